"""Holds and snapshots: who waits meanwhile, and how each ends, by itself or with its service."""

import asyncio
import threading
from contextlib import closing

import apsw
import pytest
from onechat_runtime.errors import StoreFull
from onechat_runtime.freezing import FrozenAlready
from onechat_runtime.snapshot import SnapshotUnknown

from tests.fakes.snapshot_reader import copied, files_of


def _add(tea):
    return lambda db: db.execute("INSERT INTO cups (tea) VALUES (?) RETURNING number", (tea,)).get


def _teas(db):
    return [row[0] for row in db.execute("SELECT tea FROM cups ORDER BY number")]


async def test_the_hold_ends_by_itself_after_five_seconds(store, snapshots, clock):
    frozen = await snapshots.freeze()
    waiting = asyncio.create_task(store.write(_add("waited")))
    await clock.until_sleeping()
    clock.advance(4.9)
    await store.read_aside(_teas)
    held = not waiting.done() and store.read(_teas) == []

    clock.advance(0.1)
    async with asyncio.timeout(5):
        await waiting

    assert held
    assert (frozen.hold_end - clock.now()).total_seconds() == 0
    assert store.read(_teas) == ["waited"]


async def test_while_one_holds_the_writer_another_freeze_is_refused(store, snapshots, clock):
    first = await snapshots.freeze()
    with pytest.raises(FrozenAlready):
        await snapshots.freeze()
    snapshots.thaw(first.snapshot_id)
    second = await snapshots.freeze()
    with pytest.raises(FrozenAlready):
        await snapshots.freeze()
    await clock.until_sleeping(2)
    clock.advance(5)
    await clock.until_sleeping(2)

    third = await snapshots.freeze()

    assert len({one.snapshot_id for one in (first, second, third)}) == 3


async def test_a_freeze_that_waits_for_a_long_commit_refuses_another_and_can_be_given_up(store, snapshots):
    busy = threading.Event()
    holder = asyncio.create_task(store.write(lambda db: busy.wait(10)))
    freezing = asyncio.create_task(snapshots.freeze())
    await asyncio.sleep(0)
    with pytest.raises(FrozenAlready):
        await snapshots.freeze()

    freezing.cancel()
    await asyncio.gather(freezing, return_exceptions=True)
    busy.set()
    async with asyncio.timeout(5):
        await asyncio.gather(holder, store.write(_add("after")))

    assert store.read(_teas) == ["after"]
    assert (await snapshots.freeze()).snapshot_id == "s0"


async def test_a_thaw_too_many_does_no_harm_and_one_of_nothing_is_refused(store, snapshots, clock):
    frozen = await snapshots.freeze()
    snapshots.thaw(frozen.snapshot_id)
    snapshots.thaw(frozen.snapshot_id)
    await store.write(_add("after"))
    newer = await snapshots.freeze()

    snapshots.thaw(frozen.snapshot_id)

    with pytest.raises(FrozenAlready):
        await snapshots.freeze()
    await clock.until_sleeping(2)
    clock.advance(5)
    await clock.until_sleeping(2)
    snapshots.thaw(newer.snapshot_id)
    with pytest.raises(SnapshotUnknown):
        snapshots.thaw("nothing")


def _log_can_be_emptied(store):
    """Whether no reader holds an old state: SQLite empties its log only then."""
    with closing(apsw.Connection(str(store.path))) as db:
        ((busy, _, _),) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return busy == 0


async def test_a_snapshot_ends_after_ten_minutes_though_nobody_asks(store, snapshots, clock, until):
    """Its read transaction keeps SQLite's log growing."""
    await store.write(_add("before"))
    frozen = await snapshots.freeze()
    snapshots.thaw(frozen.snapshot_id)
    await store.write(_add("after"))
    await clock.until_sleeping()
    clock.advance(5)
    await clock.until_sleeping()
    clock.advance(594.9)
    readable = await copied(snapshots, frozen.snapshot_id)
    held = not _log_can_be_emptied(store)

    clock.advance(0.1)
    await until(lambda: _log_can_be_emptied(store))
    await until(lambda: _is_unknown(snapshots, frozen.snapshot_id))  # a moment later

    assert held
    assert readable
    with pytest.raises(SnapshotUnknown):
        await snapshots.copy(frozen.snapshot_id)


def _is_unknown(snapshots, snapshot_id):
    try:
        snapshots.thaw(snapshot_id)
    except SnapshotUnknown:
        return True
    return False


async def test_a_copy_that_is_at_work_when_its_snapshot_ends_says_so_and_leaves_nothing(
    store, snapshots_of, clock, gate
):
    async with snapshots_of(store, gate) as snapshots:
        frozen = await snapshots.freeze()
        copies = [asyncio.create_task(copied(snapshots, frozen.snapshot_id)) for _ in range(2)]
        await gate.until_reached()
        await clock.until_sleeping()
        clock.advance(5)
        await clock.until_sleeping()
        clock.advance(595)
        await asyncio.sleep(0)
        gate.opened.set()
        async with asyncio.timeout(5):
            ends = await asyncio.gather(*copies, return_exceptions=True)

        assert [type(one) for one in ends] == [SnapshotUnknown] * 2
        assert files_of(store) == []


async def opened_after_turns(gate) -> None:
    """Opens the gate once an end that begins now has told the copy, a few turns of the loop later."""
    for _ in range(100):
        await asyncio.sleep(0)
    gate.opened.set()


async def test_the_end_of_a_service_ends_copies_and_holds_and_commits_what_waits(
    open_store, snapshots_of, gate
):
    async with open_store() as store:
        async with snapshots_of(store, gate) as snapshots:
            frozen = await snapshots.freeze()
            waiting = asyncio.create_task(store.write(_add("waited")))
            copying = asyncio.create_task(copied(snapshots, frozen.snapshot_id))
            await gate.until_reached()
            going_on = asyncio.create_task(opened_after_turns(gate))
        (ended,) = await asyncio.gather(copying, return_exceptions=True)
        await going_on
        await waiting

    assert isinstance(ended, SnapshotUnknown)
    async with open_store() as store:
        assert store.read(_teas) == ["waited"]


async def test_a_store_that_was_taken_away_is_not_frozen(store, snapshots):
    """Another one in its place would go into the backup."""
    away = store.path.rename(store.path.with_name("away"))
    store.path.write_bytes(away.read_bytes())

    with pytest.raises(StoreFull, match="removed while it was in use"):
        await snapshots.freeze()

    away.replace(store.path)
    async with asyncio.timeout(5):
        await store.write(_add("after"))
    assert await snapshots.freeze()
