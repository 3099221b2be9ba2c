"""The store: what it acknowledged is there, what one job does wrong hurts nobody else."""

import asyncio
import stat
import threading

import pytest


def _add(tea):
    return lambda db: db.execute("INSERT INTO cups (tea) VALUES (?) RETURNING number", (tea,)).get


def _teas(db):
    return [row[0] for row in db.execute("SELECT tea FROM cups ORDER BY number")]


def _hold_writer(store):
    """A job that keeps the writer busy until the returned event is set, and the task that waits for it."""
    held = threading.Event()
    return held, asyncio.create_task(store.write(lambda db: held.wait(10)))


async def test_a_write_is_there_for_every_reader_when_it_returns(store):
    number = await store.write(_add("green"))

    assert number == 1
    assert store.read(_teas) == ["green"]
    assert await store.read_aside(_teas) == ["green"]


async def test_what_was_written_is_there_after_a_restart(open_store):
    async with open_store() as store:
        await store.write(_add("green"))

    async with open_store() as store:
        assert store.read(_teas) == ["green"]


async def test_of_what_was_deleted_no_byte_is_in_the_store(open_store):
    """A free page would keep for years what a service has promised not to keep."""
    async with open_store() as store:
        for size in (10, 500, 50_000):
            await store.write(_add("oolong" * size))
        path, before = store.path, "oolong" in "".join(store.read(_teas))
        await store.write(lambda db: db.execute("DELETE FROM cups"))

    assert before
    assert b"oolong" not in path.read_bytes()


async def test_jobs_that_wait_together_share_one_commit(open_store, disk):
    """An fsync each would be a tenth of the rate."""
    async with open_store(vfs=disk.name) as store:
        await store.write(_add("one alone"))
        held, holder = _hold_writer(store)
        writes = [asyncio.create_task(store.write(_add(str(i)))) for i in range(50)]
        await asyncio.sleep(0)
        before = disk.syncs
        held.set()
        await asyncio.gather(holder, *writes)

        assert len(store.read(_teas)) == 51
        assert disk.syncs == before + 1


async def test_jobs_run_in_the_order_in_which_they_came(store):
    await asyncio.gather(*(store.write(_add(str(i))) for i in range(300)))

    assert store.read(_teas) == [str(i) for i in range(300)]


async def test_a_job_that_fails_undoes_its_own_work_alone(store):
    def spills(db):
        _add("spilt")(db)
        raise ValueError("spilt")

    held, holder = _hold_writer(store)
    writes = [asyncio.create_task(store.write(job)) for job in (_add("a"), spills, _add("b"))]
    await asyncio.sleep(0)
    held.set()
    results = await asyncio.gather(holder, *writes, return_exceptions=True)

    assert isinstance(results[2], ValueError)
    assert store.read(_teas) == ["a", "b"]


async def test_a_wrong_statement_is_its_callers_error_and_the_store_works_on(store):
    with pytest.raises(Exception, match="no such table"):
        await store.write(lambda db: db.execute("INSERT INTO saucers VALUES (1)"))

    await store.write(_add("green"))
    assert store.read(_teas) == ["green"]


async def test_a_cancelled_caller_breaks_nothing_and_its_job_still_runs(store):
    held, holder = _hold_writer(store)
    impatient = asyncio.create_task(store.write(_add("late")))
    patient = asyncio.create_task(store.write(_add("in time")))
    await asyncio.sleep(0)

    impatient.cancel()
    await asyncio.gather(impatient, return_exceptions=True)
    held.set()
    async with asyncio.timeout(5):
        await asyncio.gather(holder, patient)
        await store.write(_add("after"))

    assert impatient.cancelled()
    assert store.read(_teas) == ["late", "in time", "after"]


async def test_closing_commits_what_was_taken(open_store):
    held = threading.Event()
    async with open_store() as store:
        waiting = [asyncio.create_task(store.write(lambda db: held.wait(10)))]
        waiting += [asyncio.create_task(store.write(_add(str(i)))) for i in range(20)]
        await asyncio.sleep(0)
        held.set()

    await asyncio.gather(*waiting)
    async with open_store() as store:
        assert len(store.read(_teas)) == 20


async def test_a_closed_store_takes_no_job(open_store):
    async with open_store() as store:
        pass

    with pytest.raises(RuntimeError, match="closed"):
        await store.write(_add("late"))


async def test_a_read_sees_one_state_from_beginning_to_end(store):
    """Two selects of one job must not see a commit between them."""
    await store.write(_add("first"))
    loop = asyncio.get_running_loop()

    def twice(db):
        before = _teas(db)
        asyncio.run_coroutine_threadsafe(store.write(_add("second")), loop).result(10)
        return before, _teas(db)

    before, after = await store.read_aside(twice)

    assert before == after == ["first"]
    assert store.read(_teas) == ["first", "second"]


async def test_readers_cannot_write(store):
    with pytest.raises(Exception, match="readonly"):
        store.read(_add("sneaky"))
    with pytest.raises(Exception, match="readonly"):
        await store.read_aside(_add("sneaky"))


async def test_a_cancelled_long_read_ends(store):
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    begun = threading.Event()

    def read(db):
        begun.set()
        return db.execute(endless).get

    task = asyncio.create_task(store.read_aside(read))
    await asyncio.to_thread(begun.wait, 10)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert task.cancelled()
    assert await store.read_aside(_teas) == []


async def test_listeners_hear_of_a_commit_once_it_is_on_disk(store):
    seen = []

    def job(db):
        _add("green")(db)
        store.when_committed(lambda: seen.append(store.read(_teas)))

    await store.write(job)

    assert seen == [["green"]]


async def test_files_are_for_this_user_alone(store):
    await store.write(_add("green"))
    folder = store.path.parent

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert modes == dict.fromkeys(["store.db", "store.db-wal", "store.db-shm", "store.db.lock"], 0o600)


async def test_files_that_others_could_read_are_closed_to_them(open_store, tmp_path):
    async with open_store():
        pass
    path = tmp_path / "kitchen" / "store.db"
    path.chmod(0o644)
    path.parent.chmod(0o755)

    async with open_store() as store:
        await store.write(_add("green"))

        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.with_name("store.db-wal").stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_commits_are_synced_to_disk(store):
    """WAL with synchronous=NORMAL would lose what was acknowledged when the power goes."""
    assert await store.write(lambda db: db.execute("PRAGMA synchronous").get) == 2
    assert await store.write(lambda db: db.execute("PRAGMA journal_mode").get) == "wal"
    assert await store.write(lambda db: db.execute("PRAGMA foreign_keys").get) == 1


async def test_a_held_writer_keeps_jobs_waiting_and_reads_go_on(store):
    """A backup freezes five stores at once; nothing may be refused or lost meanwhile."""
    before = [asyncio.create_task(store.write(_add(str(i)))) for i in range(300)]
    await asyncio.sleep(0)

    hold = await store.hold()
    committed = [one.done() for one in before]
    waiting = [asyncio.create_task(store.write(_add(str(i)))) for i in range(300, 320)]
    await store.read_aside(_teas)
    seen = store.read(_teas)
    hold.end()
    await asyncio.gather(*waiting)

    assert all(committed)
    assert seen == [str(i) for i in range(300)]
    assert store.read(_teas) == [str(i) for i in range(320)]


async def test_a_hold_that_nobody_waits_for_any_more_holds_nothing(store):
    held, holder = _hold_writer(store)
    freezing = asyncio.create_task(store.hold())
    await asyncio.sleep(0)
    freezing.cancel()
    await asyncio.gather(freezing, return_exceptions=True)
    held.set()

    async with asyncio.timeout(5):
        await asyncio.gather(holder, store.write(_add("after")))

    assert store.read(_teas) == ["after"]


async def test_closing_ends_a_hold_and_commits_what_waited(open_store):
    async with open_store() as store:
        hold = await store.hold()
        waiting = [asyncio.create_task(store.write(_add(str(i)))) for i in range(20)]
        await asyncio.sleep(0)

    async with asyncio.timeout(5):
        await asyncio.gather(*waiting)
    assert hold.ended
    async with open_store() as store:
        assert len(store.read(_teas)) == 20
