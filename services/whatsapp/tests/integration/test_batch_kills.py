"""The process killed between any two steps from a message to the agent: read once, handed over once.

What comes again after a kill is what WhatsApp sends again: here always all of it.
"""

import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from onechat_whatsapp.domain.chat_ids import ChatId
from onechat_whatsapp.domain.messages import Message

from tests.fakes.agent_servicer import AgentServicer, agent_serving
from tests.fakes.whatsapp_batches import BOB, CAT, GARDEN, delivered, said, texts_in
from tests.fakes.whatsapp_batches_process import BatchesProcess

CAUGHT_UP_PLACES = ("messages_taken", "batches_released", "handing_batches_over", "batches_handed_over")
LIVE_PLACES = ("messages_taken", "batches_closed", "handing_batches_over", "batches_handed_over")


class Scene:
    """What outlives the runs."""

    def __init__(self, folder: Path, agent: AgentServicer, agent_address: str) -> None:
        self.agent = agent
        self._folder = folder
        self._address = agent_address
        self.said: list[Message] = []

    def start(
        self, missed: Sequence[Message] = (), live: Sequence[Message] = (), place: str = "", nth: int = 1
    ) -> BatchesProcess:
        """A run that hears all that was said before once more, and then what is new."""
        before = tuple(self.said)
        self.said += [*missed, *live]
        return BatchesProcess(self._folder, self._address, [*before, *missed], live, place, nth)

    async def settle(self) -> None:
        """A run that is not killed, until the agent has everything."""
        process = self.start()
        await self.agent.until(lambda: len(texts_in(delivered(self.agent))) >= len(self.said), within_s=30)
        await process.kill()

    def assert_told_once(self) -> None:
        """Each message reached the agent once, and each group is as large as it says in the end."""
        deliveries = delivered(self.agent)
        assert Counter(texts_in(deliveries)) == Counter(message.text for message in self.said)
        sizes = Counter(one.group for one in deliveries if one.group)
        assert sizes == {one.group: one.group_count for one in deliveries if one.group}


@asynccontextmanager
async def scene_in(folder: Path) -> AsyncIterator[Scene]:
    agent = AgentServicer()
    async with agent_serving(agent) as loopback:
        yield Scene(folder / "whatsapp", agent, loopback.address)


async def test_a_kill_at_any_place_of_a_catch_up_loses_and_repeats_nothing(tmp_path: Path) -> None:
    async with scene_in(tmp_path) as scene:
        for number, place in enumerate(CAUGHT_UP_PLACES):
            at_s = -10_000 + 1000 * number
            missed = [said(f"{place} {chat}", chat=chat, at_s=at_s) for chat in (BOB, CAT, GARDEN)]
            await scene.start(missed, place=place).killed()
        await scene.settle()

        scene.assert_told_once()


async def test_a_kill_at_any_place_of_a_live_batchs_way_loses_and_repeats_nothing(tmp_path: Path) -> None:
    async with scene_in(tmp_path) as scene:
        for number, place in enumerate(LIVE_PLACES):
            live = [said(f"{place} {chat}", chat=chat, at_s=number) for chat in (BOB, CAT, GARDEN)]
            await scene.start(live=live, place=place).killed()
        await scene.settle()

        scene.assert_told_once()


async def test_killed_three_times_after_the_hand_over_there_is_one_delivery(tmp_path: Path) -> None:
    async with scene_in(tmp_path) as scene:
        await scene.start(live=[said("hello")], place="batches_handed_over").killed()
        await scene.start(place="handing_batches_over").killed()
        await scene.start(place="batch_forgotten").killed()
        await scene.settle()

        scene.assert_told_once()


@pytest.mark.soak
async def test_sixty_kills_in_three_hundred_messages_of_twenty_chats(tmp_path: Path) -> None:
    rng = random.Random(20261130)
    chats = [ChatId(f"1555{number:07d}@s.whatsapp.net") for number in range(20)]
    places = sorted({*CAUGHT_UP_PLACES, *LIVE_PLACES})
    async with scene_in(tmp_path) as scene:
        for run in range(60):
            new = [
                said(f"message {run}.{number}", chat=rng.choice(chats), at_s=rng.randrange(1000) + 1000 * run)
                for number in range(5)
            ]
            split = rng.randrange(1, 5)
            place = rng.choice(places)
            await scene.start(new[:split], new[split:], place).killed()
        await scene.settle()

        scene.assert_told_once()
