"""Copies of a store's snapshots: what is in them, what goes on meanwhile, what is left of them."""

import asyncio
import os
import resource
import stat
from contextlib import closing, contextmanager
from itertools import count

import apsw
import pytest
from onechat_runtime.errors import StoreFull
from onechat_runtime.snapshot_copy import CopyDamaged

from tests.fakes.snapshot_reader import copied, files_of


def _add(tea):
    return lambda db: db.execute("INSERT INTO cups (tea) VALUES (?) RETURNING number", (tea,)).get


def _add_many(tea, cups):
    return lambda db: db.executemany("INSERT INTO cups (tea) VALUES (?)", [(tea,)] * cups).get


def _teas(db):
    return [row[0] for row in db.execute("SELECT tea FROM cups ORDER BY number")]


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

    copy = await copied(snapshots, frozen.snapshot_id)

    assert await reopened(copy) == ["before"]
    assert store.read(_teas) == ["changed", "after"]


async def test_a_copy_under_writes_is_exactly_what_was_acknowledged_before_the_freeze(
    store, snapshots_of, gate, reopened
):
    """Eight callers write all the time; SQLite must copy from the transaction and not begin anew for them."""
    await store.write(_add_many("x" * 3000, 6000))
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
        copying = asyncio.create_task(copied(snapshots, frozen.snapshot_id))
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
    both = asyncio.gather(*(copied(snapshots, frozen.snapshot_id) for _ in range(2)))
    await store.write(_add("after"))

    one, other = await both

    assert one == other == await copied(snapshots, frozen.snapshot_id)


async def test_older_snapshots_stay_readable_beside_newer_ones(store, snapshots, reopened):
    frozen = []
    for tea in ("first", "second"):
        await store.write(_add(tea))
        frozen.append(await snapshots.freeze())
        snapshots.thaw(frozen[-1].snapshot_id)

    copies = [await copied(snapshots, one.snapshot_id) for one in frozen]

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
        copy = await copied(pruned, frozen.snapshot_id)

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
            left = files_of(store)
            content = file.read()

    assert len(content) > 4096
    assert left == []
    assert seen.pop("snapshots") == 0o700
    assert {mode for name, mode in seen.items() if ".db" not in name} == {0o700}
    assert {mode for name, mode in seen.items() if ".db" in name} == {0o600}
    assert {"loose.db", "packed.db"} <= set(seen)
    assert not (store.path.parent / "snapshots").exists()


async def test_a_copy_that_nobody_waits_for_any_more_leaves_nothing(store, snapshots_of, gate, until):
    async with snapshots_of(store, gate) as snapshots:
        frozen = await snapshots.freeze()
        copying = asyncio.create_task(copied(snapshots, frozen.snapshot_id))
        await gate.until_reached()
        copying.cancel()
        gate.opened.set()
        await asyncio.gather(copying, return_exceptions=True)

        assert copying.cancelled()
        assert files_of(store) == []
        assert await copied(snapshots, frozen.snapshot_id)


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
        left = files_of(store)
        await store.write(_add("after"))

        assert left == []
        assert store.read(_teas) == ["before", "after"]


async def test_an_error_of_the_copy_that_means_nothing_else_is_raised_as_it_came(store, snapshots_of):
    """One that is its own cause sends whoever follows the causes round for ever."""
    async with snapshots_of(store, lambda db: db.execute("DELETE FROM saucers").get) as snapshots:
        frozen = await snapshots.freeze()
        with pytest.raises(apsw.SQLError, match="saucers") as raised:
            await snapshots.copy(frozen.snapshot_id)

    assert raised.value.__cause__ is None


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

    assert files_of(store) == []
    assert await copied(snapshots, frozen.snapshot_id)


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
        assert files_of(store) == []


@pytest.mark.parametrize(
    ("point", "left", "teas"),
    [
        ("frozen", set(), {"x" * 3000}),
        ("pruning", {"loose.db", "packed.db"}, {"x" * 3000, "late"}),
        ("packing", {"loose.db", "packed.db"}, {"x" * 3000, "late"}),
        ("whole", set(), {"x" * 3000, "late"}),
    ],
)
async def test_what_a_process_that_was_killed_left_of_a_copy_is_removed(
    open_store, snapshots_of, program, tmp_path, point, left, teas
):
    path = tmp_path / "kitchen" / "store.db"
    process = await program("killed_in_a_copy.py", str(path), point)
    await process.wait()
    found = {one.name for one in (path.parent / "snapshots").rglob("*.db")}

    async with open_store() as store, snapshots_of(store) as snapshots:
        after_the_start = (path.parent / "snapshots").exists()
        frozen = await snapshots.freeze()
        snapshots.thaw(frozen.snapshot_id)
        copy = await copied(snapshots, frozen.snapshot_id)

        assert process.returncode == -9
        assert found == left
        assert not after_the_start
        assert len(copy) > 1_000_000
        assert set(store.read(_teas)) == teas
