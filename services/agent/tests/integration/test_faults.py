"""Faults that no model and no user made: each costs its own message at most, never the service."""

import asyncio
import threading
from pathlib import Path

import pytest
from onechat.agent.v1 import agent_service_pb2, event_pb2
from onechat_agent.adapters import agent_rows
from onechat_agent.patience import committed
from onechat_runtime.errors import StoreFull
from onechat_runtime.store import Store, migrations_in

from tests.fakes.agent_house import living
from tests.fakes.clock import ManualClock
from tests.fakes.memory_server import MemoryServer, new_message
from tests.fakes.scripted_model import Answer, Purpose, ScriptedModel

FAILED = event_pb2.TurnChange.STATE_FAILED


async def test_a_message_that_the_memory_refuses_ends_its_turn_and_not_the_service(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Taken up again at each start, it would end every start for ever."""
    model.say("here")
    async with living(tmp_path, memory, model) as house:
        await memory.append(new_message("d:1", "something else"), log=house.seat.id)
        end = await house.say("refused")
        await house.say("taken")

        assert end.state == FAILED
        assert house.seen.notices() == [end.reason]
        assert (await house.lines())[1:] == ["user: taken", "reply: here"]


async def test_a_refused_message_without_a_turn_is_told_and_holds_nothing_up(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("here")
    async with living(tmp_path, memory, model) as house:
        await memory.append(new_message("d:1", "something else"), log=house.seat.id)
        await house.deliver("chatter", caller="whatsapp", source="whatsapp:2@g")
        await house.seen.until(lambda seen: bool(seen.notices()))
        await house.say("taken")

        assert "could not be put into the memory" in house.seen.notices()[0]
        assert house.seen.replies() == ["here"]


async def test_a_message_longer_than_any_call_is_read_in_the_view(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Shown whole, its turn would roll over at every step and see none of them."""
    model.say("I have zoomed")
    async with living(tmp_path, memory, model) as house:
        await house.say("y" * 210_000)

        (request,) = model.requests(Purpose.TURN)
        texts = [part["text"] for item in request.body["input"] for part in item["content"]]
        assert texts[-1].startswith("(Earlier messages of the same moment stand in the view only: 1 of user.")
        assert max(map(len, texts)) < 100_000


async def test_a_cancelled_commit_is_waited_for(tmp_path: Path) -> None:
    """Else a stop would act on a store that does not have yet what it is about to have."""
    async with a_store(tmp_path) as store:
        busy = threading.Event()
        holding = asyncio.ensure_future(store.write(lambda _: busy.wait(10)))
        writing = asyncio.ensure_future(
            committed(store, ManualClock(), lambda db: agent_rows.set_fact(db, "a", "b"))
        )
        await asyncio.sleep(0)
        writing.cancel()
        await asyncio.sleep(0)
        assert not writing.done()

        busy.set()
        await asyncio.wait({writing, holding})

        assert writing.cancelled()
        assert store.read(lambda db: agent_rows.fact(db, "a")) == "b"


async def test_a_full_disk_is_waited_out() -> None:
    clock, full = ManualClock(), _FullStore(times=3)
    writing = asyncio.ensure_future(committed(full, clock, lambda _: "through"))  # type: ignore[arg-type]
    for _ in range(3):
        await clock.until_sleeping()
        clock.advance(5)

    assert await writing == "through"


async def test_a_store_without_space_pauses_turns_and_they_go_on(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """A commit that fails for want of space takes nothing along: events and usage come with the next try."""
    clock = ManualClock()
    gate = model.hold(answer=Answer(text="many words " * 3_000))
    async with living(tmp_path, memory, model, clock=clock) as house:
        key = await house.deliver("hello")
        await gate.reached()
        await house.store.write(lambda db: db.execute("PRAGMA max_page_count=1").fetchall())
        with pytest.raises(StoreFull):
            await _fill(house.store)
        gate.open()
        await clock.until_sleeping(2, within_s=30)  # forget_old's day, and a full disk
        assert house.seen.ends() == []
        await house.store.write(lambda db: db.execute("PRAGMA max_page_count=1000000").fetchall())
        while house.seen.ends() == []:
            clock.advance(5)
            await asyncio.sleep(0.01)
        await house.ended(key)

        assert len(house.seen.replies()) == 1
        assert (
            house.store.read(lambda db: db.execute("SELECT sum(calls) FROM usage WHERE purpose = 'turn'").get)
            == 1
        )


async def _fill(store: Store) -> None:
    for number in range(100):
        await store.write(lambda db, n=number: agent_rows.set_fact(db, f"f{n}", "x" * 4_000))


class _FullStore:
    """A store whose disk is full for the first commits."""

    def __init__(self, times: int) -> None:
        self._times = times

    async def write(self, job: object) -> str:
        await asyncio.sleep(0)
        if self._times:
            self._times -= 1
            raise StoreFull()
        return str(job(None))  # type: ignore[operator]


def a_store(folder: Path):  # type: ignore[no-untyped-def]
    return Store.open(
        folder / "store.db",
        component="agent",
        migrations=migrations_in("onechat_agent.migrations"),
        clock=ManualClock(),
    )


@pytest.mark.parametrize("years", [-1, 8000])
async def test_a_time_that_no_calendar_holds_is_taken_as_its_end(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, years: int
) -> None:
    async with living(tmp_path, memory, model) as house:
        request = agent_service_pb2.RunCommandRequest(line="/stop")
        request.time.seconds = years * 40_000_000
        assert (await house.stub().RunCommand(request, timeout=20)).answer == "Nothing is at work."
