"""What a store refuses and keeps when its disk is full, at work and at a start."""

import asyncio
import resource
import threading
from contextlib import contextmanager

import pytest
from onechat_runtime.errors import StartRefused, StoreFull
from onechat_runtime.store import Migration


def _add(tea):
    return lambda db: db.execute("INSERT INTO cups (tea) VALUES (?) RETURNING number", (tea,)).get


def _teas(db):
    return [row[0] for row in db.execute("SELECT tea FROM cups ORDER BY number")]


async def test_a_full_disk_refuses_writes_half_of_nothing_and_works_again(open_store, disk, board):
    async with open_store(vfs=disk.name, board=board) as store:
        await store.write(_add("before"))

        disk.full = True
        with pytest.raises(StoreFull):
            await store.write(lambda db: (_add("one half")(db), _add("other half")(db)))
        seen = store.read(_teas)
        told = dict(board.troubles())
        disk.full = False
        await store.write(_add("after"))

        assert seen == ["before"]
        assert "free some space" in told["store_full"].sentence
        assert store.read(_teas) == ["before", "after"]
        assert board.troubles() == {}


async def test_every_job_of_a_commit_without_room_is_refused(open_store, disk):
    async with open_store(vfs=disk.name) as store:
        held = threading.Event()
        holder = asyncio.create_task(store.write(lambda db: held.wait(10)))
        writes = [asyncio.create_task(store.write(_add(str(i)))) for i in range(5)]
        await asyncio.sleep(0)
        disk.full = True
        held.set()
        _, *results = await asyncio.gather(holder, *writes, return_exceptions=True)
        disk.full = False

        assert [type(one) for one in results] == [StoreFull] * 5
        assert store.read(_teas) == []


async def test_a_job_that_fills_the_disk_by_itself_leaves_the_others_or_refuses_them(open_store):
    """SQLite may give the whole transaction up; then nobody is told that his work is there."""
    async with open_store() as store:
        pages = await store.write(lambda db: db.execute("PRAGMA page_count").get)
        await store.write(lambda db: db.execute(f"PRAGMA max_page_count = {pages + 8}").get)
        held = threading.Event()
        holder = asyncio.create_task(store.write(lambda db: held.wait(10)))
        small, big = _add("small"), _add("big" * 100_000)
        writes = [asyncio.create_task(store.write(job)) for job in (small, big)]
        await asyncio.sleep(0)
        held.set()
        _, first, second = await asyncio.gather(holder, *writes, return_exceptions=True)

        assert isinstance(second, StoreFull)
        assert store.read(_teas) == ([] if isinstance(first, StoreFull) else ["small"])
        await store.write(_add("after"))
        assert store.read(_teas)[-1] == "after"


@contextmanager
def _files_no_longer_than(size):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_limit_on_the_size_of_files_counts_as_a_full_disk(open_store):
    async with open_store() as store:
        await store.write(_add("before"))

        with _files_no_longer_than(100_000), pytest.raises(StoreFull):
            await store.write(_add("big" * 100_000))

        await store.write(_add("after"))
        assert store.read(_teas) == ["before", "after"]


async def test_a_start_on_a_full_disk_says_so(open_store, disk, tmp_path):
    async with open_store(vfs=disk.name) as store:
        await store.write(_add("before"))

    disk.full = True
    with pytest.raises(StartRefused, match=r"is full: free some space, then start again\.$"):
        async with open_store(vfs=disk.name):
            pass
    disk.full = False

    async with open_store(vfs=disk.name) as store:
        assert store.read(_teas) == ["before"]


async def test_a_first_start_on_a_full_disk_says_so(open_store):
    with _files_no_longer_than(0), pytest.raises(StartRefused, match="is full: free some space"):
        async with open_store():
            pass

    async with open_store() as store:
        assert store.read(_teas) == []


async def test_a_start_without_room_for_what_stands_beside_the_store_says_so(open_store):
    """SQLite's index of its log is 32 KiB at once; its errno is the connection's that was being made."""
    async with open_store() as store:
        await store.write(_add("before"))

    with _files_no_longer_than(8_192), pytest.raises(StartRefused, match="is full: free some space"):
        async with open_store():
            pass

    async with open_store() as store:
        assert store.read(_teas) == ["before"]


async def test_no_room_for_the_copy_before_a_migration_stops_the_start(open_store, cups, tmp_path):
    async with open_store(cups) as store:
        await store.write(_add("big" * 100_000))
    saucers = Migration(number=2, name="saucers", sql="CREATE TABLE saucers (n INTEGER) STRICT;")

    with _files_no_longer_than(100_000), pytest.raises(StartRefused, match="is full"):
        async with open_store(cups, saucers):
            pass

    assert not list((tmp_path / "kitchen").glob("*before*"))
    async with open_store(cups) as store:
        assert store.schema == 1


async def test_a_migration_that_finds_no_room_gives_back_what_it_took(open_store, cups, disk, tmp_path):
    """Its log can be larger than the store: it would go on filling the disk, and look like a kill."""
    async with open_store(cups) as store:
        await store.write(_add("before"))
    many = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
    filled = f"INSERT INTO cups (tea) {many} SELECT hex(zeroblob(2000)) FROM n;"
    saucers = Migration(number=2, name="saucers", sql=filled)

    disk.room = 500
    with pytest.raises(StartRefused, match="is full"):
        async with open_store(cups, saucers, vfs=disk.name):
            pass
    disk.room = None

    assert not (tmp_path / "kitchen" / "store.db-wal").exists()
    async with open_store(cups, vfs=disk.name) as store:
        assert not store.after_unclean_end
        assert store.read(_teas) == ["before"]
