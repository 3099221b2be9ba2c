"""The one reader: each event to each room in order, held up by a full disk, ended by a broken store alone."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import apsw
import pytest
from onechat_runtime.errors import StoreFull
from onechat_runtime.health import HealthBoard
from onechat_whatsapp.hearing import Hearing
from onechat_whatsapp.wire.events import CaughtUp, Connected, Disconnected, WireEvent
from onechat_whatsapp.wire.ports import SessionUnreadable

from tests.fakes.clock import ManualClock
from tests.fakes.whatsapp_wire import FakeWire


class Room:
    """Fails as it is told to, then notes what it heard."""

    def __init__(self, *faults: Exception) -> None:
        self.heard: list[WireEvent] = []
        self.faults = list(faults)
        self.tries = 0

    async def hear(self, event: WireEvent) -> None:
        self.tries += 1
        if self.faults:
            raise self.faults.pop(0)
        self.heard.append(event)


@asynccontextmanager
async def heard_by(
    *rooms: Room,
) -> AsyncIterator[tuple[FakeWire, ManualClock, HealthBoard, asyncio.Task[None]]]:
    clock, wire = ManualClock(), FakeWire()
    board = HealthBoard(clock)
    task = asyncio.create_task(Hearing(wire, [room.hear for room in rooms], board, clock).run())
    yield wire, clock, board, task
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not reached():
            await asyncio.sleep(0)


async def test_each_room_hears_all_in_order() -> None:
    first, second = Room(), Room()
    async with heard_by(first, second) as (wire, _, _, _):
        events = [Connected(), CaughtUp(count=0), Disconnected()]
        for event in events:
            wire.account.emit(event)
        await until(lambda: len(second.heard) == 3)

        assert first.heard == second.heard == events


@pytest.mark.parametrize("fault", [StoreFull(), SessionUnreadable("BusyError: database is locked")])
async def test_what_cannot_be_dealt_with_now_holds_all_up_and_is_lost_for_no_room(fault: Exception) -> None:
    first, second = Room(fault, fault), Room()
    async with heard_by(first, second) as (wire, clock, board, _):
        wire.account.emit(Connected())
        wire.account.emit(Disconnected())
        await clock.until_sleeping()
        held = list(second.heard)
        for wait_s in (1, 2):
            await clock.until_sleeping()
            assert clock.sleepers == [wait_s]
            clock.advance(wait_s)
        await until(lambda: len(second.heard) == 2)

        assert held == []
        assert first.heard == second.heard == [Connected(), Disconnected()]
        assert board.troubles() == {}


async def test_what_a_room_fails_at_is_left_to_the_others_and_said() -> None:
    first, second = Room(ValueError("a text")), Room()
    async with heard_by(first, second) as (wire, _, board, _):
        wire.account.emit(Connected())
        await until(lambda: bool(second.heard))

        assert (first.tries, first.heard) == (1, [])
        assert "could not be dealt with" in board.troubles()["hearing"].sentence


async def test_a_store_that_is_broken_ends_the_reading() -> None:
    async with heard_by(Room(apsw.CorruptError("malformed"))) as (wire, _, _, task):
        wire.account.emit(Connected())

        with pytest.raises(apsw.CorruptError):
            await task
