"""Stores that SQLite would open though something of them is gone, and damage that only a job meets."""

import shutil

import apsw
import pytest
from onechat_runtime.errors import StartRefused
from onechat_runtime.store_schema import COPY_SUFFIX


def _add(tea):
    return lambda db: db.execute("INSERT INTO cups (tea) VALUES (?) RETURNING number", (tea,)).get


def _teas(db):
    return [row[0] for row in db.execute("SELECT tea FROM cups ORDER BY number")]


@pytest.fixture
async def left(open_store, tmp_path):
    """The files of a store whose process was killed: what was written is in SQLite's log."""
    async with open_store() as store:
        await store.write(_add("green"))
        shutil.copytree(store.path.parent, tmp_path / "left")
    return tmp_path / "left" / "store.db"


async def test_a_killed_process_loses_nothing(open_store, left):
    async with open_store(path=left) as store:
        assert store.read(_teas) == ["green"]
        assert store.after_unclean_end


async def test_zero_bytes_beside_a_log_are_refused_and_the_log_stays(open_store, left):
    """SQLite would begin a new store, and throw the log away."""
    left.write_bytes(b"")
    log = left.with_name("store.db-wal")
    before = log.read_bytes()

    with pytest.raises(StartRefused, match=r"is empty, but store\.db-wal beside it is of an earlier life"):
        async with open_store(path=left):
            pass

    assert log.read_bytes() == before


async def test_zero_bytes_beside_the_copy_of_a_migration_are_refused(open_store, tmp_path):
    path = tmp_path / "kitchen" / "store.db"
    path.parent.mkdir(mode=0o700)
    path.touch()
    path.with_name(path.name + COPY_SUFFIX).write_bytes(b"a store")

    with pytest.raises(StartRefused, match="restore a backup"):
        async with open_store():
            pass


async def test_zero_bytes_alone_are_a_first_start_that_was_killed(open_store, tmp_path):
    path = tmp_path / "kitchen" / "store.db"
    path.parent.mkdir(mode=0o700)
    path.touch()
    path.with_name("store.db.lock").write_text("1\n")

    async with open_store() as store:
        await store.write(_add("green"))
        assert store.read(_teas) == ["green"]


async def test_a_store_that_ends_in_half_a_page_is_refused(open_store, tmp_path):
    """SQLite would read zeros for the rest of the page."""
    path = tmp_path / "kitchen" / "store.db"
    async with open_store() as store:
        await store.write(_add("green"))
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 100)

    with pytest.raises(StartRefused, match=r"was cut off: restore a backup\.$"):
        async with open_store():
            pass


@pytest.mark.parametrize("how", ["read", "read_aside", "write"])
async def test_damage_that_a_job_meets_is_told_by_the_health(open_store, board, tmp_path, how):
    """Its caller learns of a failure only."""
    path = tmp_path / "kitchen" / "store.db"
    async with open_store() as store:
        root = await store.write(
            lambda db: db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'cups'").get
        )
    with path.open("r+b") as file:
        file.seek((root - 1) * 4_096)
        file.write(b"\xff" * 4_096)

    async with open_store(board=board) as store:
        with pytest.raises(apsw.CorruptError):
            await store.write(_teas) if how == "write" else await _read(store, how)

        assert "restore a backup" in board.troubles()["store_damaged"].sentence


async def _read(store, how):
    return store.read(_teas) if how == "read" else await store.read_aside(_teas)
