"""Events say of which generation of the agent's log they speak: a log may be exchanged for another one."""

import asyncio
from pathlib import Path

from onechat.agent.v1 import event_pb2

from tests.fakes.agent_house import House, living
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import FOR_EVER, Purpose, ScriptedModel, wrong_key


async def test_a_turns_events_carry_the_generation_of_the_log_that_it_reads(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """A reply that names message 7 means the one of that generation, also after the log was exchanged."""
    model.say("of the first log", "of the second")
    async with living(tmp_path, memory, model) as house:
        await house.say("one")
        first = (await memory.stats(house.seat.id)).log.generation
        second = await _exchanged(memory, house)
        await house.say("two")

        before, after = house.seen.events("reply")
        assert (before.generation, after.generation) == (first, second)
        assert first < second
        changes = [event for event in house.seen.events("turn_change") if event.turn == after.turn]
        assert {event.generation for event in changes} == {second}


async def test_what_is_told_outside_of_turns_carries_the_generation_last_read(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        generation = await _exchanged(memory, house)
        await house.say("one")
    async with living(tmp_path, memory, model) as house:
        await house.say("two")

        (said,) = house.seen.events("user_message")
        assert said.generation == generation


async def test_a_turn_that_never_had_its_view_changes_no_generation(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """It reads no log, so it cannot know of which generation that is."""
    async with living(tmp_path, memory, model) as house:
        generation = await _exchanged(memory, house)
        await house.say("x" * 2_000)  # its line needs a model
        model.clear()
        model.fail(wrong_key(), times=FOR_EVER, purpose=Purpose.COMPACTION)
        await house.say("y" * 2_000)
        end = await house.say("are you there?")

        assert end.state == event_pb2.TurnChange.STATE_FAILED
        assert house.seen.events("turn_change")[-1].generation == generation


async def _exchanged(memory: MemoryServer, house: House) -> int:
    """Another log takes the place of the root's, as an import's does; its generation."""
    async with asyncio.timeout(30):
        while house.seat.id not in await memory.logs():
            await asyncio.sleep(0.01)
    await memory.create("staged", state="LOG_STATE_STAGED")
    return (await memory.swap(log=house.seat.id)).generation
