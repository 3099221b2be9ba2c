"""What is left of a store whose disk fails, file is taken away, process is killed or page is damaged."""

import asyncio
import os

import apsw
import pytest
from onechat_runtime.errors import StoreFull
from onechat_runtime.store import INTEGRITY_CHECK, Store


def _add(tea):
    return lambda db: db.execute("INSERT INTO cups (tea) VALUES (?) RETURNING number", (tea,)).get


def _teas(db):
    return [row[0] for row in db.execute("SELECT tea FROM cups ORDER BY number")]


async def test_a_disk_that_fails_is_no_full_disk_and_the_store_works_again(open_store, disk):
    async with open_store(vfs=disk.name) as store:
        disk.broken = True
        for _ in range(2):
            with pytest.raises(apsw.IOError):
                await store.write(_add("lost"))
        disk.broken = False

        await store.write(_add("kept"))
        assert store.read(_teas) == ["kept"]


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_store_that_was_taken_away_refuses_writes_until_it_is_back(open_store, board, replaced):
    """SQLite would go on in a file without a name, and what was acknowledged would end with the process."""
    async with open_store(board=board) as store:
        await store.write(_add("before"))
        away = store.path.rename(store.path.with_name("away"))
        if replaced:
            store.path.write_bytes(b"")

        with pytest.raises(StoreFull, match="removed while it was in use"):
            await store.write(_add("lost"))
        told = dict(board.troubles())
        away.replace(store.path)
        await store.write(_add("after"))

        assert "was removed while it was in use" in told["store_full"].sentence
        assert store.read(_teas) == ["before", "after"]
        assert board.troubles() == {}


async def test_what_was_acknowledged_outlives_a_sigkill(open_store, program, tmp_path):
    path = tmp_path / "kitchen" / "store.db"
    said: set[int] = set()
    for acknowledged in (40, 5, 75):
        process = await program("open_store.py", str(path), "write")
        async for line in process.stdout:
            said.add(int(line))
            if len(said) >= acknowledged:
                break
        process.kill()
        said |= {int(line) for line in (await process.stdout.read()).split(b"\n")[:-1] if line}
        await process.wait()
        async with open_store() as store:
            numbers = {
                row[0] for row in store.read(lambda db: db.execute("SELECT number FROM cups").fetchall())
            }
            assert {2 * number for number in said} | {2 * number + 1 for number in said} <= numbers
            assert all(number ^ 1 in numbers for number in numbers), "half a pair was written"
            await store.write(lambda db: db.execute("DELETE FROM cups").get)
        said.clear()


async def _killed_store(open_store, program, path):
    process = await program("open_store.py", str(path), "write")
    await process.stdout.readline()
    process.kill()
    await process.wait()


def _is_checking():
    return INTEGRITY_CHECK in {task.get_name() for task in asyncio.all_tasks()}


async def test_after_an_unclean_end_the_whole_store_is_checked(open_store, program, tmp_path, board, until):
    """The check runs beside the service, which starts at once."""
    path = tmp_path / "kitchen" / "store.db"
    async with open_store() as store:
        await store.write(lambda db: [_add("x" * 3000)(db) for _ in range(200)] and None)
    _damage_a_page(path)
    _leave_lock_behind(path)

    async with open_store(board=board) as store:
        await until(lambda: "store_damaged" in board.troubles())

        assert "restore a backup" in board.troubles()["store_damaged"].sentence
        assert store.read(lambda db: db.execute("SELECT tea FROM cups WHERE number = 1").get)


async def test_after_a_sigkill_a_sound_store_troubles_nobody(open_store, program, tmp_path, board, until):
    path = tmp_path / "kitchen" / "store.db"
    await _killed_store(open_store, program, path)
    assert path.with_name("store.db.lock").read_text() != ""

    async with open_store(board=board):
        begun = _is_checking()
        await until(lambda: not _is_checking())

        assert begun
        assert board.troubles() == {}


async def test_after_a_clean_end_nothing_is_checked(open_store, tmp_path, board):
    path = tmp_path / "kitchen" / "store.db"
    async with open_store() as store:
        await store.write(lambda db: [_add("x" * 3000)(db) for _ in range(200)] and None)
    _damage_a_page(path)

    async with open_store(board=board):
        assert not _is_checking()
    assert board.troubles() == {}


async def test_a_check_at_work_does_not_hold_up_the_end(open_store, tmp_path, board):
    path = tmp_path / "kitchen" / "store.db"
    async with open_store() as store:
        await store.write(lambda db: [_add("x" * 3000)(db) for _ in range(200)] and None)
    _leave_lock_behind(path)

    async with asyncio.timeout(5):
        async with open_store(board=board):
            pass

    async with open_store() as store:
        assert len(store.read(_teas)) == 200


def _damage_a_page(path):
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size - 4096 * 3)
        file.write(os.urandom(4096))


def _leave_lock_behind(path):
    path.with_name("store.db.lock").write_text("1\n")


async def test_the_lock_goes_with_the_process_that_held_it(open_store, program, tmp_path):
    await _killed_store(open_store, program, tmp_path / "kitchen" / "store.db")

    async with open_store() as store:
        assert isinstance(store, Store)
