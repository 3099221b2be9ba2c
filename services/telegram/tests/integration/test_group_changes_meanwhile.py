"""What becomes of a message while it is judged or its writer asked after: the group moves, is left or set."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from onechat_telegram.domain.wording import NOT_FOR_YOU
from onechat_telegram.groups.domain.addressing import Judgement
from onechat_telegram.groups.domain.ids import ChatId
from onechat_telegram.groups.domain.messages import Moved
from onechat_telegram.groups.domain.settings import DetectorKind, GroupSettings
from onechat_telegram.groups.ports import Question

from tests.fakes.group_agents import GroupAgentsInMemory
from tests.fakes.group_bench import GroupBench, RunningGroups
from tests.fakes.telegram_house import House

BEN = 5550002
GARDEN, PARK = ChatId("garden"), ChatId("park")
SOURCE = "tavern:garden"
BY_MODEL = GroupSettings(detector=DetectorKind.MODEL)


class SlowAgents(GroupAgentsInMemory):
    """Judges so slowly that `meanwhile` happens first."""

    meanwhile: Callable[[], Awaitable[object]]

    async def judge(self, question: Question) -> Judgement:
        await self.meanwhile()
        return await super().judge(question)


@pytest.fixture
def agents() -> SlowAgents:
    return SlowAgents()


@pytest.fixture
async def running(tmp_path: Path, agents: SlowAgents) -> AsyncIterator[RunningGroups]:
    bench = GroupBench(tmp_path)
    bench.agents = agents
    bench.platform.room(GARDEN, "Garden", "anna", "bob")
    async with bench.running() as running:
        await running.admit(GARDEN, BY_MODEL)
        yield running


@pytest.mark.parametrize("meant", [False, True])
async def test_a_message_of_a_group_that_moves_meanwhile_reaches_its_agent(
    running: RunningGroups, agents: SlowAgents, meant: bool
) -> None:
    agents.meanwhile = lambda: running.chats.admission.moved(Moved(old=GARDEN, new=PARK))
    agents.meant = lambda text: meant
    running.bench.platform.say(GARDEN, "anna", "the roses bloom")

    await running.quiet()

    [delivery] = agents.log(SOURCE)
    assert (delivery.wakes, "the roses bloom" in delivery.text) == (meant, True)


async def test_a_message_of_a_group_that_is_left_meanwhile_reaches_nobody(
    running: RunningGroups, agents: SlowAgents
) -> None:
    agents.meanwhile = lambda: running.chats.admission.remove(GARDEN)
    agents.meant = lambda text: True
    running.bench.platform.say(GARDEN, "anna", "the roses bloom")

    await running.quiet()

    assert agents.log(SOURCE) == []


async def test_what_the_owner_forbids_to_learn_meanwhile_is_dropped(
    running: RunningGroups, agents: SlowAgents
) -> None:
    settings = replace(BY_MODEL, learn=False)
    agents.meanwhile = lambda: running.chats.admission.set(GARDEN, settings)
    running.bench.platform.say(GARDEN, "anna", "the roses bloom")

    await running.quiet()

    assert agents.log(SOURCE) == []
    assert running.store.read(lambda db: db.execute("SELECT DISTINCT line FROM group_heard").get) == ""


async def test_a_private_message_is_refused_once_the_owner_has_switched_that_off(house: House) -> None:
    """Also one that came before, while Telegram was still being asked whether its writer is a member."""
    chat = await house.served("Garden", [BEN])
    house.api.chats.add(BEN)
    held = house.api.fail("getChatMember", how="hold")
    house.api.say("how am I doing?", user=BEN)
    await house.until(lambda: house.api.calls["getChatMember"] > 0)

    await house.set(chat, GroupSettings(private_chats=False))
    held.released.set()
    [said] = await house.until_said(BEN)
    await house.taken()

    assert said["text"] == NOT_FOR_YOU
    assert house.agent.deliveries == {}
