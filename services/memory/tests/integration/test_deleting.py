"""DeleteLog: a kept log is gone at once, and what it has left goes bit by bit, whatever comes in between."""

import asyncio
from typing import Any

import pytest
from grpc import StatusCode
from onechat_memory.adapters.log_store import LogStore
from onechat_memory.adapters.upkeep_store import ROWS, UpkeepStore
from onechat_runtime.errors import RemoteError

from tests.fakes.memory_server import LOG, new_message

LONG = "x" * 600
SMALL_VIEW = "UPDATE logs SET chat_high = 40, chat_low = 20 WHERE id = ?"  # so that lines merge at once
LEFT = ("messages", "nodes", "rebuilds", "failures", "ready_merges", "unbuilt_leaves", "view_lines")


def rows(memory, number: int) -> dict[str, int]:
    """How many rows each table has of the log called `number`."""

    def job(db):
        counts = {
            table: db.execute(f"SELECT count(*) FROM {table} WHERE log = ?", (number,)).get for table in LEFT
        }
        return counts | {"logs": db.execute("SELECT count(*) FROM logs WHERE number = ?", (number,)).get}

    return memory.store.read(job)


def number_of(memory, log: str) -> int:
    return memory.store.read(lambda db: db.execute("SELECT number FROM logs WHERE id = ?", (log,)).get)


async def until_gone(memory, number: int) -> None:
    """Return once the log called `number` has left nothing."""
    async with asyncio.timeout(20):
        while any(rows(memory, number).values()):
            # Behind whatever the service is about to write.
            await memory.store.write(lambda db: None)


async def keep_one(memory) -> int:
    """A log with rows in every table, set aside as `kept`; its number."""
    await memory.store.write(lambda db: db.execute(SMALL_VIEW, (LOG,)))  # before it is loaded
    await memory.append(*["short"] * 4, *[LONG] * 4)
    leased = await memory.lease(most=2)
    await memory.fail(leased.pieces[0], "CAUSE_CONTENT")
    await memory.complete("5+1", "l" * 500, builder="demo")
    await memory.complete("6+1", "l" * 500)
    await memory.complete("7+1", "l" * 500)
    assert await memory.rebuild(demo=True) == 1
    number = number_of(memory, LOG)
    assert all(rows(memory, number).values())
    await memory.create("staged", state="LOG_STATE_STAGED")
    await memory.append("new", log="staged")
    await memory.swap()
    return number


async def test_a_deleted_log_is_gone_for_every_call_at_once(memory):
    await keep_one(memory)

    await memory.delete()

    assert set(await memory.logs()) == {LOG}
    calls = [
        memory.view("kept"),
        memory.zoom("0+1", log="kept"),
        memory.stats("kept"),
        memory.messages(log="kept"),
        memory.append("more", log="kept"),
        memory.complete("4+1", "line", log="kept"),
        memory.rebuild(log="kept"),
        memory.swap("kept", "other"),
    ]
    for call in calls:
        with pytest.raises(RemoteError) as refused:
            await call
        assert refused.value.reason == "LOG_UNKNOWN"
    assert (await memory.view()).text == "<chat>\n0+1|user: new\n</chat>"


async def test_what_it_has_left_goes_and_nothing_else(memory):
    number = await keep_one(memory)
    live = number_of(memory, LOG)
    before = rows(memory, live)

    await memory.delete()
    await until_gone(memory, number)

    assert rows(memory, live) == before
    assert memory.store.read(lambda db: db.execute("PRAGMA foreign_key_check").fetchall()) == []


async def test_its_id_is_free_at_once(memory):
    number = await keep_one(memory)
    await memory.delete()

    log = await memory.create("kept", label="another")
    await memory.append("mine", log="kept")
    await until_gone(memory, number)

    assert (log.length, log.label, log.generation) == (0, "another", 1)
    assert [message.text for message in await memory.messages(log="kept")] == ["mine"]


@pytest.mark.parametrize("state", ["LOG_STATE_LIVE", "LOG_STATE_STAGED"])
async def test_only_a_kept_log_is_deleted(memory, state):
    await memory.create("other", state=state)

    with pytest.raises(RemoteError) as refused:
        await memory.delete("other")

    assert (refused.value.code, refused.value.reason) == (StatusCode.FAILED_PRECONDITION, "LOG_NOT_KEPT")
    assert "other" in await memory.logs()


async def test_a_log_that_is_gone_already_is_no_error(memory):
    await keep_one(memory)
    await memory.delete(request_id="d")

    await memory.delete(request_id="d")
    await memory.delete(request_id="another")
    await memory.delete("never there")
    await memory.delete("deleted:1")

    with pytest.raises(RemoteError) as refused:
        await memory.delete("other", request_id="d")
    assert (refused.value.code, refused.value.reason) == (StatusCode.ALREADY_EXISTS, "KEY_REUSED")


async def test_a_repeated_call_does_not_delete_a_later_log_of_that_id(memory):
    await keep_one(memory)
    await memory.delete(request_id="d")
    await memory.create("staged", state="LOG_STATE_STAGED")
    await memory.swap()

    await memory.delete(request_id="d")

    assert "kept" in await memory.logs()


async def test_it_goes_in_steps_between_which_others_write(memory):
    """Each step is a commit of its own: an append waits for one step, however large the log was."""
    for _ in range(5):
        await memory.append(*["word"] * 200)
    number = number_of(memory, LOG)
    await memory.create("staged", state="LOG_STATE_STAGED")
    await memory.swap()
    written = 0

    await memory.delete()
    while any(rows(memory, number).values()):
        await memory.append("meanwhile")
        written += 1

    assert written > 3


async def test_no_step_removes_more_than_a_few_hundred_rows(memory):
    for _ in range(3):
        await memory.append(*["word"] * 200)
    number = number_of(memory, LOG)
    await memory.create("staged", state="LOG_STATE_STAGED")
    await memory.swap()

    def remove_all(db: Any) -> list[int]:
        UpkeepStore(db).delete(LogStore(db).log("kept"))
        removed, before = [], db.total_changes()
        while UpkeepStore(db).remove_some():
            removed.append(db.total_changes() - before)
            before = db.total_changes()
        return removed

    removed = await memory.store.write(remove_all)

    assert not any(rows(memory, number).values())
    assert len(removed) > 5
    assert max(removed) <= ROWS


async def test_it_goes_on_after_a_restart(open_memory):
    async with open_memory() as memory:
        await memory.create()
        number = await keep_one(memory)

        def delete_and_stop_short(db: Any) -> None:
            db.execute("UPDATE logs SET deleted = 1, id = 'deleted:9' WHERE id = 'kept'")
            for _ in range(3):
                assert UpkeepStore(db).remove_some()

        await memory.store.write(delete_and_stop_short)
        left = rows(memory, number)
        assert 0 < sum(left.values()) < sum(1 for _ in left) * 100

    async with open_memory() as memory:
        await until_gone(memory, number)
        assert set(await memory.logs()) == {LOG}


async def test_nothing_is_written_when_nothing_is_to_go(memory, clock):
    """A service at rest wakes no disk."""
    number = await keep_one(memory)
    await memory.delete()
    await until_gone(memory, number)
    await memory.append("settled")
    changes = await memory.store.write(lambda db: db.total_changes())

    clock.advance(3_600)
    await memory.view()

    assert await memory.store.write(lambda db: db.total_changes()) == changes


async def test_two_logs_go_one_after_the_other(memory):
    first = await keep_one(memory)
    await memory.create("staged", state="LOG_STATE_STAGED")
    second = number_of(memory, LOG)
    await memory.swap(kept="kept-too")

    await memory.delete()
    await memory.delete("kept-too")

    await until_gone(memory, first)
    await until_gone(memory, second)
    assert set(await memory.logs()) == {LOG}


async def test_messages_of_a_deleted_log_do_not_make_their_keys_known(memory):
    await memory.append(new_message("k", "of the old log"))
    await memory.create("staged", state="LOG_STATE_STAGED")
    await memory.swap()
    await memory.delete()

    (appended,) = (await memory.append(new_message("k", "of the new log"))).appended

    assert not appended.known
