"""Lines built over a real memory and a scripted model: what is taken, what is tried again, what is paid."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from onechat.agent.v1 import agent_service_pb2, event_pb2, usage_pb2
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_house import House, living
from tests.fakes.clock import ManualClock
from tests.fakes.memory_server import MemoryServer, new_message, remembering
from tests.fakes.scripted_model import (
    FOR_EVER,
    Answer,
    HttpFault,
    Purpose,
    ScriptedModel,
    bad_request,
    server_error,
    wrong_key,
)

LONG = "y" * 2_000  # its line needs a model
COMPACTION = Purpose.COMPACTION


async def remember(house: House, text: str = LONG) -> None:
    """Puts a message into the root's log beside every turn, so that one line is to be built."""
    length = await _length(house)
    await house.memory.append(new_message(f"n:{length}", text), log=house.seat.id)


async def _length(house: House) -> int:
    async with asyncio.timeout(30):
        while True:
            try:
                return int((await house.memory.stats(house.seat.id)).log.length)
            except RemoteError:  # its log is just being made
                await asyncio.sleep(0.01)


async def line(house: House, number: int = 0) -> str:
    """The line of a message, once it is built."""
    async with asyncio.timeout(30):
        while not (view := await house.memory.view(house.seat.id)).whole:
            await asyncio.sleep(0.01)
    return str(view.text.splitlines()[number + 1])


async def turning(clock: ManualClock, condition: Callable[[], bool], step_s: float = 2.0) -> float:
    """Turns the clock until `condition` holds; the seconds that took."""
    began_s = clock.monotonic()
    async with asyncio.timeout(20):
        while not condition():
            clock.advance(step_s)
            await asyncio.sleep(0.02)
    return clock.monotonic() - began_s


async def test_the_longest_of_three_lines_that_fits_is_taken(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.compress("\n".join(["a" * 600, "b" * 500, "c" * 100]))
    async with living(tmp_path, memory, model) as house:
        await remember(house)

        assert await line(house) == f"0+1|{'b' * 500}"
        (request,) = model.requests(COMPACTION)
        assert request.body["tool_choice"] == "none"


async def test_turns_and_compactions_have_the_same_head(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("hi")
    async with living(tmp_path, memory, model) as house:
        await house.say("hello")
        await remember(house)
        await line(house, 2)

        turn, compaction = model.requests(Purpose.TURN)[0].body, model.requests(COMPACTION)[0].body
        for name in ("instructions", "tools", "model", "prompt_cache_key"):
            assert turn.get(name) == compaction.get(name)


async def test_a_line_that_is_too_long_is_asked_for_again_in_the_same_conversation(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.compress("d" * 700, "e" * 600, "f" * 400)
    async with living(tmp_path, memory, model) as house:
        await remember(house)

        assert await line(house) == f"0+1|{'f' * 400}"
        first, second, third = (request.body["input"] for request in model.requests(COMPACTION))
        assert third[: len(second)] == second
        assert second[: len(first)] == first


async def test_of_five_lines_that_are_too_long_the_shortest_is_kept(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.compress(*(letter * size for letter, size in zip("ghijk", (900, 800, 560, 700, 750), strict=True)))
    async with living(tmp_path, memory, model) as house:
        await remember(house)

        assert (await line(house)).startswith("0+1|iiii")
        assert len(model.requests(COMPACTION)) == 5


async def test_what_a_model_refuses_is_built_from_its_head_after_three_tries(tmp_path: Path) -> None:
    """One message that no model wants must not hold every turn to come."""
    clock = ManualClock()
    async with (
        remembering(tmp_path / "memory", clock) as memory,
        ScriptedModel.serving() as model,
        living(tmp_path, memory, model, clock=clock) as house,
    ):
        model.compress(*[Answer(refusal="No.")] * 3)
        await remember(house)
        await model.wait_for(1, COMPACTION)
        took_s = await turning(clock, lambda: len(model.requests(COMPACTION)) == 3)

        assert took_s >= 20
        assert (await line(house)).startswith("0+1|user: yyy")
        assert (await memory.stats(house.seat.id)).degraded_nodes == 1


@pytest.mark.parametrize(
    "fault",
    [
        server_error(),
        bad_request("Unknown parameter: 'tools[0].strict'.", param="tools[0].strict"),
        HttpFault(status=404, kind="invalid_request_error", code=None, message="Not Found"),
    ],
    ids=["server", "setting", "address"],
)
async def test_what_meets_every_text_pauses_longer_and_longer_and_degrades_nothing(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, fault: HttpFault
) -> None:
    """After three tries the whole memory would be cut heads, for a wrong setting as for an outage."""
    clock = ManualClock()
    async with living(tmp_path, memory, model, clock=clock) as house:
        model.fail(fault, times=7, purpose=COMPACTION)
        await remember(house)
        await model.wait_for(1, COMPACTION)
        took_s = await turning(clock, lambda: len(model.requests(COMPACTION)) > 7, step_s=10)

        assert took_s >= 10 + 20 + 40 + 80 + 160 + 300 + 300, "it grows to five minutes"
        assert "not summarized" not in await line(house)
        assert (await memory.stats(house.seat.id)).degraded_nodes == 0


async def test_a_turn_that_needs_lines_ends_the_pause(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    clock = ManualClock()
    model.fail(server_error(), purpose=COMPACTION)
    model.say("here")
    async with living(tmp_path, memory, model, clock=clock) as house:
        await remember(house)
        await clock.until_sleeping(2)  # the day of old events, and the pause
        await house.say("hello")

        assert house.seen.replies() == ["here"]
        assert clock.monotonic() == 0


async def test_a_wrong_key_fails_each_turn_that_needs_lines_and_is_told_once(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.fail(wrong_key(), times=FOR_EVER, purpose=COMPACTION)
    async with living(tmp_path, memory, model) as house:
        await remember(house)
        ends = [await house.say("one"), await house.say("two")]

        assert {end.state for end in ends} == {event_pb2.TurnChange.STATE_FAILED}
        assert all("OPENAI_API_KEY" in end.reason for end in ends)
        assert len(house.seen.notices()) == 1


async def test_what_lines_cost_is_recorded_as_compaction(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.compress("l" * 700, "a line")
    async with living(tmp_path, memory, model) as house:
        await remember(house)
        await line(house)
        answer = await house.stub().GetUsage(agent_service_pb2.GetUsageRequest(), timeout=20)

        (usage,) = answer.usage
        assert (usage.purpose, usage.calls) == (usage_pb2.USAGE_PURPOSE_COMPACTION, 2)
        assert usage.input_tokens > 0


async def test_a_log_of_nobody_keeps_the_compactor_from_nothing(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Left by an agent that is gone: given back, its pieces would come again at once, for ever."""
    async with living(tmp_path, memory, model) as house:
        await memory.create("nobody")
        await memory.append(*[LONG] * 9, log="nobody")
        await remember(house)

        assert "not summarized" not in await line(house)
        assert len(model.requests(COMPACTION)) == 1
        assert (await memory.lease("another")).pieces, "a new holder may have them at once"


async def test_an_answer_without_work_that_comes_at_once_is_not_asked_for_in_a_loop(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    clock = ManualClock()
    async with living(tmp_path, memory, model, clock=clock):
        await memory.lease("another holder")
        await clock.until_sleeping(2)

        assert 1.0 in clock.sleepers
