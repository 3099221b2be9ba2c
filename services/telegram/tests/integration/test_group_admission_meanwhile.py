"""What becomes of a group while its agent is being made: it is left, or moved, before that is done."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from onechat_runtime.store import Store, migrations_in
from onechat_telegram.groups.admission import Admission, GroupUnknown
from onechat_telegram.groups.domain.group import GroupState
from onechat_telegram.groups.domain.ids import AgentId, ChatId, MemberId, MessageKey, Source
from onechat_telegram.groups.domain.messages import Added, Member, Moved, Removed
from onechat_telegram.groups.domain.settings import DetectorKind, GroupSettings

from tests.fakes.clock import ManualClock
from tests.fakes.group_agents import GroupAgentsInMemory, OwnerInMemory
from tests.fakes.group_platform import Platform, PlatformAdapter

GARDEN, PARK = ChatId("garden"), ChatId("park")
SET = GroupSettings(detector=DetectorKind.MODEL, names=("kobold",))


class SlowAgents(GroupAgentsInMemory):
    """Makes agents so slowly that `meanwhile` happens first."""

    meanwhile: Callable[[], Awaitable[object]]

    async def create(self, source: Source, title: str) -> AgentId:
        await self.meanwhile()
        return await super().create(source, title)


@pytest.fixture
def agents() -> SlowAgents:
    return SlowAgents()


@pytest.fixture
async def admission(tmp_path: Path, agents: SlowAgents) -> AsyncIterator[Admission]:
    """With one group, which awaits the owner's yes."""
    clock = ManualClock()
    platform = Platform(clock.now)
    migrations = migrations_in("onechat_telegram.migrations")
    async with Store.open(
        tmp_path / "store.db", component="telegram", migrations=migrations, clock=clock
    ) as store:
        made = Admission(PlatformAdapter(platform), agents, OwnerInMemory(), store, clock)
        olga = Member(id=MemberId("olga"), name="Olga")
        await made.added(
            Added(key=MessageKey("tavern:1"), chat=GARDEN, title="Garden", by=olga, by_owner=True)
        )
        yield made


async def test_a_group_that_has_moved_meanwhile_is_admitted_under_its_new_id(
    admission: Admission, agents: SlowAgents
) -> None:
    agents.meanwhile = lambda: admission.moved(Moved(old=GARDEN, new=PARK))

    group = await admission.admit(GARDEN)

    assert (group.chat, group.state, group.agent) == (PARK, GroupState.ADMITTED, "agent-1")
    assert admission.groups() == [group]


async def test_a_group_that_has_removed_the_bot_meanwhile_is_not_admitted(
    admission: Admission, agents: SlowAgents
) -> None:
    agents.meanwhile = lambda: admission.removed(Removed(chat=GARDEN))

    with pytest.raises(GroupUnknown):
        await admission.admit(GARDEN)

    assert admission.groups() == []


async def test_settings_that_were_made_meanwhile_stay(admission: Admission, agents: SlowAgents) -> None:
    agents.meanwhile = lambda: admission.set(GARDEN, SET)

    group = await admission.admit(GARDEN)

    assert (group.state, group.settings) == (GroupState.ADMITTED, SET)
