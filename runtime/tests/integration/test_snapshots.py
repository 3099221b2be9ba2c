"""Snapshots of a store: what is in a copy, what goes on meanwhile, how each thing ends."""

import asyncio
import os
import resource
import stat
import threading
from contextlib import closing, contextmanager
from itertools import count

import apsw
import pytest
from onechat_runtime.errors import StoreFull
from onechat_runtime.freezing import FrozenAlready, Snapshots
from onechat_runtime.snapshot import SnapshotUnknown
from onechat_runtime.snapshot_copy import CopyDamaged


def _add(tea):
    return lambda db: db.execute("INSERT INTO cups (tea) VALUES (?) RETURNING number", (tea,)).get


def _add_many(tea, cups):
    return lambda db: db.executemany("INSERT INTO cups (tea) VALUES (?)", [(tea,)] * cups).get


def _teas(db):
    return [row[0] for row in db.execute("SELECT tea FROM cups ORDER BY number")]


@pytest.fixture
def snapshots_of(clock):
    """Opens the snapshots of a store; they are called s0, s1, …"""
    numbers = count()

    def opened(store, prune=None):
        return Snapshots.open(store, clock=clock, new_id=lambda: f"s{next(numbers)}", prune=prune)

    return opened


@pytest.fixture
async def snapshots(store, snapshots_of):
    async with snapshots_of(store) as opened:
        yield opened


async def _copied(snapshots, snapshot_id):
    """The bytes of a copy."""
    with closing(await snapshots.copy(snapshot_id)) as file:
        return file.read()


def _files(store):
    """What there is of copies beside the store."""
    return sorted(path.name for path in (store.path.parent / "snapshots").rglob("*"))


class Gate:
    """A prune hook that stands still in the middle of a copy until it is opened."""

    def __init__(self):
        self.reached = threading.Event()
        self.opened = threading.Event()

    def __call__(self, db):
        self.reached.set()
        assert self.opened.wait(10)

    async def until_reached(self):
        assert await asyncio.to_thread(self.reached.wait, 10)


@pytest.fixture
def gate():
    made = Gate()
    yield made
    made.opened.set()


@pytest.fixture
def reopened(open_store, tmp_path):
    """What the store holds that is made of a copy's bytes, opened as any store is."""

    async def teas(copy):
        path = tmp_path / f"restored-{len(list(tmp_path.iterdir()))}" / "store.db"
        path.parent.mkdir()
        path.write_bytes(copy)
        async with open_store(path=path) as store:
            await store.write(_add("restored"))
            return store.read(_teas)[:-1]

    return teas


async def test_a_copy_holds_what_was_there_at_the_freeze_and_opens_as_a_store(store, snapshots, reopened):
    await store.write(_add("before"))
    frozen = await snapshots.freeze()
    snapshots.thaw(frozen.snapshot_id)
    await store.write(_add("after"))
    await store.write(lambda db: db.execute("UPDATE cups SET tea = 'changed' WHERE tea = 'before'").get)

    copy = await _copied(snapshots, frozen.snapshot_id)

    assert await reopened(copy) == ["before"]
    assert store.read(_teas) == ["changed", "after"]


async def test_a_copy_under_writes_is_exactly_what_was_acknowledged_before_the_freeze(
    store, snapshots_of, gate, reopened
):
    """Eight callers write all the time; SQLite must copy from the transaction and not begin anew for them."""
    await store.write(_add_many("x" * 3000, 2000))
    acknowledged, over = [], asyncio.Event()

    async def write_on(caller):
        for number in count():
            if over.is_set():
                return
            tea = f"{caller}-{number}"
            await store.write(_add(tea))
            acknowledged.append(tea)

    async with snapshots_of(store, gate) as snapshots, asyncio.TaskGroup() as callers:
        for caller in range(8):
            callers.create_task(write_on(caller))
        while len(acknowledged) < 100:
            await store.write(lambda db: None)
        frozen = await snapshots.freeze()
        before = set(acknowledged)
        snapshots.thaw(frozen.snapshot_id)
        copying = asyncio.create_task(_copied(snapshots, frozen.snapshot_id))
        await gate.until_reached()
        in_the_copy = len(acknowledged)
        while len(acknowledged) < in_the_copy + 100:
            await store.write(lambda db: None)
        gate.opened.set()
        copy = await copying
        over.set()

    assert set(await reopened(copy)) - {"x" * 3000} == before
    assert len(before) >= 100
    assert in_the_copy > len(before), "writes stood still while the file was copied"


async def test_two_copies_of_a_snapshot_are_the_same(store, snapshots):
    await store.write(_add_many("green", 500))
    frozen = await snapshots.freeze()
    snapshots.thaw(frozen.snapshot_id)
    both = asyncio.gather(*(_copied(snapshots, frozen.snapshot_id) for _ in range(2)))
    await store.write(_add("after"))

    one, other = await both

    assert one == other == await _copied(snapshots, frozen.snapshot_id)


async def test_older_snapshots_stay_readable_beside_newer_ones(store, snapshots, reopened):
    frozen = []
    for tea in ("first", "second"):
        await store.write(_add(tea))
        frozen.append(await snapshots.freeze())
        snapshots.thaw(frozen[-1].snapshot_id)

    copies = [await _copied(snapshots, one.snapshot_id) for one in frozen]

    assert [await reopened(copy) for copy in copies] == [["first"], ["first", "second"]]


async def test_what_is_pruned_leaves_no_trace_in_the_copy_and_stays_in_the_store(
    store, snapshots_of, reopened
):
    """SQLite keeps deleted text in free pages; VACUUM INTO takes none along."""
    await store.write(_add_many("SECRET" * 100, 50))
    await store.write(_add("green"))

    async with snapshots_of(
        store, lambda db: db.execute("DELETE FROM cups WHERE tea <> 'green'").get
    ) as pruned:
        frozen = await pruned.freeze()
        pruned.thaw(frozen.snapshot_id)
        copy = await _copied(pruned, frozen.snapshot_id)

    assert b"SECRET" not in copy
    assert await reopened(copy) == ["green"]
    assert len(store.read(_teas)) == 51


async def test_files_of_a_copy_are_for_this_user_alone_and_gone_when_it_is_there(store, snapshots_of):
    seen = {}

    def look(db):
        for path in (store.path.parent / "snapshots", *(store.path.parent / "snapshots").rglob("*")):
            seen[path.name] = stat.S_IMODE(path.stat().st_mode)

    async with snapshots_of(store, look) as snapshots:
        frozen = await snapshots.freeze()
        with closing(await snapshots.copy(frozen.snapshot_id)) as file:
            left = _files(store)
            content = file.read()

    assert len(content) > 4096
    assert left == []
    assert seen.pop("snapshots") == 0o700
    assert {mode for name, mode in seen.items() if ".db" not in name} == {0o700}
    assert {mode for name, mode in seen.items() if ".db" in name} == {0o600}
    assert {"loose.db", "packed.db"} <= set(seen)
    assert not (store.path.parent / "snapshots").exists()


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
    readable = await _copied(snapshots, frozen.snapshot_id)
    held = not _log_can_be_emptied(store)

    clock.advance(0.1)
    await until(lambda: _log_can_be_emptied(store))

    assert held
    assert readable
    with pytest.raises(SnapshotUnknown):
        await snapshots.copy(frozen.snapshot_id)
    with pytest.raises(SnapshotUnknown):
        snapshots.thaw(frozen.snapshot_id)


async def test_a_copy_that_is_at_work_when_its_snapshot_ends_says_so_and_leaves_nothing(
    store, snapshots_of, clock, gate
):
    async with snapshots_of(store, gate) as snapshots:
        frozen = await snapshots.freeze()
        copies = [asyncio.create_task(_copied(snapshots, frozen.snapshot_id)) for _ in range(2)]
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
        assert _files(store) == []


async def test_a_copy_that_nobody_waits_for_any_more_leaves_nothing(store, snapshots_of, gate, until):
    async with snapshots_of(store, gate) as snapshots:
        frozen = await snapshots.freeze()
        copying = asyncio.create_task(_copied(snapshots, frozen.snapshot_id))
        await gate.until_reached()
        copying.cancel()
        gate.opened.set()
        await asyncio.gather(copying, return_exceptions=True)

        assert copying.cancelled()
        assert _files(store) == []
        assert await _copied(snapshots, frozen.snapshot_id)


async def test_the_end_of_a_service_ends_copies_and_holds_and_commits_what_waits(
    open_store, snapshots_of, gate
):
    async with open_store() as store:
        async with snapshots_of(store, gate) as snapshots:
            frozen = await snapshots.freeze()
            waiting = asyncio.create_task(store.write(_add("waited")))
            copying = asyncio.create_task(_copied(snapshots, frozen.snapshot_id))
            await gate.until_reached()
            asyncio.get_running_loop().call_soon(gate.opened.set)
        (ended,) = await asyncio.gather(copying, return_exceptions=True)
        await waiting

    assert isinstance(ended, SnapshotUnknown)
    async with open_store() as store:
        assert store.read(_teas) == ["waited"]


async def test_no_room_for_a_copy_says_so_leaves_nothing_and_hurts_no_write(open_store, snapshots_of, disk):
    def fill(db):
        disk.full = True

    async with open_store(vfs=disk.name) as store, snapshots_of(store, fill) as snapshots:
        await store.write(_add("before"))
        frozen = await snapshots.freeze()
        snapshots.thaw(frozen.snapshot_id)
        with pytest.raises(StoreFull):
            await snapshots.copy(frozen.snapshot_id)
        disk.full = False
        left = _files(store)
        await store.write(_add("after"))

        assert left == []
        assert store.read(_teas) == ["before", "after"]


@contextmanager
def _files_no_longer_than(size):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_limit_on_the_size_of_files_counts_as_no_room(store, snapshots):
    await store.write(_add_many("x" * 3000, 500))
    frozen = await snapshots.freeze()

    with _files_no_longer_than(500_000), pytest.raises(StoreFull):
        await snapshots.copy(frozen.snapshot_id)

    assert _files(store) == []
    assert await _copied(snapshots, frozen.snapshot_id)


async def test_a_damaged_store_gives_no_copy_and_shows_in_health(open_store, snapshots_of, board):
    async with open_store() as store:
        await store.write(_add_many("x" * 3000, 200))
    size = store.path.stat().st_size
    with store.path.open("r+b") as file:
        file.seek(size - 4096 * 3)
        file.write(os.urandom(4096))

    async with open_store(board=board) as store, snapshots_of(store) as snapshots:
        frozen = await snapshots.freeze()
        with pytest.raises(CopyDamaged):
            await snapshots.copy(frozen.snapshot_id)

        assert "restore a backup" in board.troubles()["store_damaged"].sentence
        assert _files(store) == []


async def test_what_a_process_that_was_killed_left_of_a_copy_is_removed(
    open_store, snapshots_of, program, tmp_path
):
    path = tmp_path / "kitchen" / "store.db"
    process = await program("killed_in_a_copy.py", str(path))
    await process.wait()
    left = {one.name for one in (path.parent / "snapshots").rglob("*.db")}

    async with open_store() as store, snapshots_of(store) as snapshots:
        after_the_start = (path.parent / "snapshots").exists()
        frozen = await snapshots.freeze()
        snapshots.thaw(frozen.snapshot_id)
        copy = await _copied(snapshots, frozen.snapshot_id)

        assert process.returncode == -9
        assert left == {"loose.db", "packed.db"}
        assert not after_the_start
        assert len(copy) > 1_000_000
        assert set(store.read(_teas)) == {"x" * 3000, "after"}
