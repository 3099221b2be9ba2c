"""What a call costs does not grow with the log: no statement reads a table through."""

import time

import apsw
import pytest
from onechat.memory.v1.log_pb2 import ViewLimits
from onechat.memory.v1.memory_service_pb2 import GetMessageTimeRequest, ListLogsRequest

from tests.fakes.memory_server import MemoryServer

TABLES = ("messages", "nodes", "unbuilt_leaves", "ready_merges", "failures", "view_lines", "rebuilds")


async def every_call(memory: MemoryServer) -> None:
    """Each call that is served, at least once, with what makes it do all it can."""
    await memory.create("new", chat_view=ViewLimits(high_bytes=400, low_bytes=200))
    await memory.append("x" * 600, *["w" * 100] * 9, log="new")
    leased = await memory.lease(most=1)
    await memory.fail(leased.pieces[0], "CAUSE_CONTENT", log=leased.log_id)
    await memory.build_all(log="new")
    await memory.view("new", wait_s=1)
    for name in ("0+8", "0+1", "0+0"):
        await memory.zoom(name, log="new")
    await memory.stats("new")
    await memory.messages(log="new")
    await memory.call("GetMessageTime", GetMessageTimeRequest(log_id="new", id=3))
    await memory.call("ListLogs", ListLogsRequest())
    await change_whole_logs(memory)


async def change_whole_logs(memory: MemoryServer) -> None:
    """Rebuild, swap and delete, until the last row of the deleted log is gone."""
    await memory.append("y" * 600, log="new")
    await memory.complete("10+1", "z" * 300, log="new", builder="demo")
    await memory.rebuild(log="new", degraded=True, demo=True)
    await memory.build_all()
    await memory.create("staged", state="LOG_STATE_STAGED")
    await memory.swap(log="new", request_id="swap")
    await memory.view("kept")
    await memory.delete(request_id="delete")
    count = "SELECT count(*) FROM logs WHERE deleted = 1"
    while await memory.store.write(lambda db: db.execute(count).get):
        pass


async def test_no_call_reads_a_table_through(memory: MemoryServer):
    await memory.append(*["x" * 600] * 3)
    seen: dict[str, object] = {}

    def trace(cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        seen.setdefault(sql, bindings)
        return True

    def watch(db: apsw.Connection) -> None:
        db.exec_trace = trace

    def look_away(db: apsw.Connection) -> None:
        db.exec_trace = None

    await memory.store.write(watch)
    memory.store.read(watch)
    await every_call(memory)
    await memory.store.write(look_away)
    memory.store.read(look_away)

    plans = {}
    for sql, bindings in seen.items():
        if sql.split()[0] in ("SELECT", "UPDATE", "DELETE", "INSERT"):
            steps = memory.store.read(lambda db: db.execute(f"EXPLAIN QUERY PLAN {sql}", bindings).fetchall())  # noqa: B023
            plans[sql] = [step[3] for step in steps]
    scans = [
        (step, sql)
        for sql, steps in plans.items()
        for step in steps
        if step.startswith("SCAN") and (step.split()[1] in TABLES or step.split()[1] in "vnyop")
    ]
    assert len(plans) > 30
    assert scans == []
    (marking,) = [steps for sql, steps in plans.items() if sql.startswith("INSERT INTO rebuilds")]
    assert any("nodes_poorly_built" in step for step in marking), "it reads all nodes of a log"


async def test_handing_out_work_costs_the_same_however_long_the_backlog_is(memory: MemoryServer):
    """An import leaves thousands of lines to be built, and its pieces are asked for while they wait."""
    short = await steps_of_a_lease(memory, "short", 20)
    long = await steps_of_a_lease(memory, "long", 2_000)

    assert 0 < long < 1.2 * short


async def steps_of_a_lease(memory: MemoryServer, log: str, backlog: int) -> int:
    """Steps of SQLite's machine that a lease of one piece takes, of a log with so many unbuilt leaves."""
    await memory.create(log)
    for _ in range(backlog // 20):
        await memory.append(*["x" * 600] * 20, log=log)
    steps = 0

    def step() -> bool:
        nonlocal steps
        steps += 1
        return False

    memory.store.read(lambda db: db.set_progress_handler(step, 1))
    leased = await memory.lease(most=1)
    memory.store.read(lambda db: db.set_progress_handler(None))
    assert (leased.log_id, len(leased.pieces)) == (log, 1)
    return steps


async def test_a_view_is_loaded_from_its_own_rows_alone(open_memory):
    limits = {"chat_view": ViewLimits(high_bytes=3_000, low_bytes=1_500)}
    limits["compaction_view"] = limits["chat_view"]
    async with open_memory() as memory:
        await memory.create("long", **limits)
        for _ in range(8):
            await memory.append(*["w" * 20] * 250, log="long")
            await memory.build_all(line="z" * 200)
        assert (await memory.stats("long")).batches > 1

    started = time.perf_counter()
    async with open_memory() as memory:
        view = await memory.view("long")
    took_s = time.perf_counter() - started

    assert (view.length, view.whole) == (2_000, True)
    assert view.bytes < 3_500
    assert took_s < 5


@pytest.mark.soak
async def test_a_log_of_100000_messages_opens_within_a_second_and_gives_its_view_at_once(open_memory):
    async with open_memory() as memory:
        await memory.create()
        for block in range(400):
            await memory.append(*[f"{block}:{n} " + "w" * (7 * n % 80) for n in range(250)])
            if block % 4 == 3:
                await memory.build_all(line="z" * 400)
        live = await memory.view()

    opening = time.perf_counter()
    async with open_memory() as memory:
        opened = time.perf_counter()
        view = await memory.view()
        seen = time.perf_counter()

    assert view == live
    assert view.length == 100_000
    assert opened - opening < 1
    assert seen - opened < 0.2
