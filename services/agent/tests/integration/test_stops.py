"""Stops at awkward moments: what was stopped stays stopped, and nothing else is."""

import asyncio
import threading
from pathlib import Path

import pytest
from onechat.agent.v1 import agent_service_pb2, event_pb2
from onechat_agent.adapters import agent_rows, turn_rows
from onechat_runtime.errors import RemoteError, StoreFull

from tests.fakes.agent_house import House, living
from tests.fakes.clock import ManualClock
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import Answer, Purpose, ScriptedModel

STATES = event_pb2.TurnChange


async def stop(house: House, **fields: object) -> list[str]:
    answer = await house.stub().StopTurn(agent_service_pb2.StopTurnRequest(**fields), timeout=20)
    return list(answer.stopped)


async def command(house: House, line: str, request_id: str = "") -> str:
    request = agent_service_pb2.RunCommandRequest(line=line, request_id=request_id)
    return str((await house.stub().RunCommand(request, timeout=20)).answer)


async def test_a_turn_that_waits_for_its_view_is_stopped_and_its_message_is_remembered(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    gate = model.hold(purpose=Purpose.COMPACTION)
    async with living(tmp_path, memory, model) as house:
        await house.say("x" * 2_000)  # its line needs a model
        await gate.reached()
        key = await house.deliver("are you there?")
        async with asyncio.timeout(30):
            while await stop(house) != ["One"]:  # the loop has picked it up
                await asyncio.sleep(0.01)
        end = await house.ended(key)
        gate.open()

        assert end.state == STATES.STATE_STOPPED
        assert (await house.lines())[-1] == "user: are you there?"
        assert len(model.requests(Purpose.TURN)) == 1


async def test_a_stop_of_a_turn_that_waits_for_its_view_is_on_disk_when_it_is_answered(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """The turn has no row yet: what it would have taken must not begin one after a restart."""
    gate = model.hold(purpose=Purpose.COMPACTION)
    async with living(tmp_path, memory, model) as house:
        await house.say("x" * 2_000)  # its line needs a model
        await gate.reached()
        key = await house.deliver("are you there?")
        async with asyncio.timeout(30):
            while await stop(house) != ["One"]:
                await asyncio.sleep(0.01)
        wakes = "SELECT wakes FROM deliveries WHERE key = ?"
        woken = house.store.read(lambda db: db.execute(wakes, (key,)).get)
        gate.open()

        assert woken == 0


async def test_a_stop_that_comes_twice_ends_no_later_turn(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Its answer was lost, and the client sends it again a turn later."""
    first_gate = model.hold(answer=Answer(text="never sent"))
    async with living(tmp_path, memory, model) as house:
        first = await house.deliver("one")
        await first_gate.reached()
        answers = [await command(house, "/stop", "same")]
        names = [await stop(house, request_id="other")]
        await house.ended(first)
        second_gate = model.hold(answer=Answer(text="here"))
        second = await house.deliver("two")
        await second_gate.reached()
        answers.append(await command(house, "/stop", "same"))
        names.append(await stop(house, request_id="other"))
        second_gate.open()
        end = await house.ended(second)

        assert answers == ["Stopped: One."] * 2
        assert names[0] == names[1]
        assert end.state == STATES.STATE_ENDED


async def test_an_id_of_a_stop_is_refused_for_another_one(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await command(house, "/stop", "same")

        with pytest.raises(RemoteError) as refused:
            await command(house, "/stop all", "same")
        assert refused.value.reason == "KEY_REUSED"
        with pytest.raises(RemoteError) as refused:
            await stop(house, request_id="é")
        assert refused.value.reason == "BAD_REQUEST_ID"


async def test_a_stop_is_on_disk_when_it_is_answered(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """A restart that comes at once must not take the stopped turn up again."""
    gate = model.hold(answer=Answer(text="never sent"))
    async with living(tmp_path, memory, model) as house:
        key = await house.deliver("hello")
        await gate.reached()
        turn = house.store.read(lambda db: turn_rows.at_work(db, house.seat.id))
        assert turn is not None
        await command(house, "/stop")
        reason = house.store.read(
            lambda db: db.execute("SELECT stop_reason FROM turns WHERE turn_id = ?", (turn.id,)).get
        )
        assert reason == "Stopped."

    async with living(tmp_path, memory, model, after=0) as house:
        assert (await house.ended(key)).state == STATES.STATE_STOPPED
        assert len(model.requests(Purpose.TURN)) == 1


async def test_a_stop_goes_on_when_whoever_asked_has_gone(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """It may be on disk by then, and the user is told of nothing that still works."""
    gate = model.hold(purpose=Purpose.TURN)
    async with living(tmp_path, memory, model) as house:
        key = await house.deliver("do this")
        await gate.reached()
        held = await house.store.hold()
        asking = asyncio.ensure_future(command(house, "/stop"))
        await asyncio.sleep(0)
        for _ in range(5):  # they come later on the same way, so that the stop waits for its commit by then
            await command(house, "/agents")
        asking.cancel()
        await asyncio.wait({asking})
        held.end()

        assert (await house.ended(key)).state == STATES.STATE_STOPPED


async def test_a_stop_that_meets_the_end_of_a_turn_makes_no_second_one(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    gate = model.hold(answer=Answer(text="done"))
    async with living(tmp_path, memory, model) as house:
        key = await house.deliver("hello")
        await gate.reached()
        busy = threading.Event()
        writing = asyncio.ensure_future(house.store.write(lambda _: busy.wait(10)))
        gate.open()
        await house.memory_holds(2)  # the reply is logged; the turn's end waits for the writer
        stopping = [asyncio.ensure_future(stop(house)) for _ in range(3)]
        await house.memory.stats(house.seat.id)
        busy.set()
        await writing
        await asyncio.gather(*stopping)
        await house.ended(key)
        model.say("next")
        await house.say("and then?")

        states = [event.turn_change.state for event in house.seen.events("turn_change")]
        assert states.count(STATES.STATE_BEGUN) == 2
        assert len(house.seen.ends()) == 2
        assert house.seen.replies()[-1] == "next"


async def test_a_clock_that_steps_back_keeps_no_stop_from_a_turn(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    clock = ManualClock()
    gate = model.hold(answer=Answer(text="never sent"))
    async with living(tmp_path, memory, model, clock=clock) as house:
        key = await house.deliver("hello")
        await gate.reached()
        clock.step_wall_clock(-3600)
        before = agent_service_pb2.StopTurnRequest().before_time
        before.FromDatetime(clock.now())
        stopped = await stop(house, before_time=before)

        assert stopped == ["One"]
        assert (await house.ended(key)).state == STATES.STATE_STOPPED


async def test_a_stop_works_on_a_full_disk_too(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Nothing can be written down, and what is at work ends all the same."""
    clock = ManualClock()
    gate = model.hold(answer=Answer(text="never sent"))
    async with living(tmp_path, memory, model, clock=clock) as house:
        key = await house.deliver("hello")
        await gate.reached()
        await house.store.write(lambda db: db.execute("PRAGMA max_page_count=1").fetchall())
        with pytest.raises(StoreFull):
            await _fill(house)
        stopped = await stop(house)
        await house.store.write(lambda db: db.execute("PRAGMA max_page_count=1000000").fetchall())
        ended = asyncio.ensure_future(house.ended(key))
        while not ended.done():
            clock.advance(5)
            await asyncio.wait({ended}, timeout=0.01)

        assert stopped == ["One"]
        assert ended.result().state == STATES.STATE_STOPPED
        assert len(model.requests(Purpose.TURN)) == 1


async def _fill(house: House) -> None:
    for number in range(100):
        await house.store.write(lambda db, n=number: agent_rows.set_fact(db, f"f{n}", "x" * 4_000))
