"""Turns that follow at once: what comes fast shares one, and a single message waits for nothing."""

import asyncio
from pathlib import Path

from onechat_agent.loop import GATHER_S

from tests.fakes.agent_house import TIMEOUT_S, living
from tests.fakes.clock import ManualClock
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import Answer, Purpose, ScriptedModel


async def test_what_comes_fast_shares_the_next_turn(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    clock, gate = ManualClock(), model.hold(answer=Answer(text="first"))
    async with living(tmp_path, memory, model, clock=clock) as house:
        first = await house.deliver("one")
        await gate.reached()
        await house.deliver("two")
        await house.deliver("three")
        gate.open()
        await house.ended(first)
        await _until_gathering(clock)
        last = await house.deliver("four")
        model.say("all of it")
        clock.advance(GATHER_S)
        await house.ended(last)

        assert [_messages(record.body) for record in model.requests(Purpose.TURN)] == [
            ["user: one"],
            ["user: two", "user: three", "user: four"],
        ]


async def test_a_single_message_that_came_during_a_turn_waits_for_nothing(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    clock, gate = ManualClock(), model.hold(answer=Answer(text="first"))
    async with living(tmp_path, memory, model, clock=clock) as house:
        await house.deliver("one")
        await gate.reached()
        second = await house.deliver("two")
        model.say("second")
        gate.open()
        await house.ended(second)

        assert house.seen.replies() == ["first", "second"]


async def _until_gathering(clock: ManualClock) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while GATHER_S not in clock.sleepers:
            await clock.until_sleeping(len(clock.sleepers) + 1)


def _messages(body: dict[str, list[dict[str, list[dict[str, str]]]]]) -> list[str]:
    """What a request's turn was about: all after the view and the state."""
    return [part["text"] for item in body["input"][2:] for part in item["content"]]
