"""What a backup holds of the memory: live logs whole, and nothing of what is staged or was set aside."""

import hashlib
from contextlib import closing

import apsw
import pytest
from onechat.ops.v1 import ops_service_pb2, ops_service_pb2_grpc
from onechat_memory.__main__ import MIGRATIONS
from onechat_memory.adapters.backup_copy import prune
from onechat_memory.adapters.row_ids import row_id
from onechat_runtime.channels import open_channel
from onechat_runtime.store import migrations_in

from tests.fakes.memory_server import remembering
from tests.fakes.service_process import started

SET_ASIDE = "quetzalcoatlus"
LEFT = "archaeopteryx"
EMPTY = {"INTEGER": 0, "TEXT": "", "BLOB": b""}
LIVE, STAGED, KEPT, DELETED = range(1, 5)


def _rows(db):
    """How many rows each log has in each table that has rows of logs, by the log's number."""
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE sql LIKE '% log INTEGER%'")]
    return {
        table: dict(db.execute(f"SELECT log, count(*) FROM {table} GROUP BY log").fetchall())
        for table in tables
    }


@pytest.fixture
def crowded():
    """A store of four logs, each with a row in every table."""
    with closing(apsw.Connection(":memory:")) as db:
        for migration in migrations_in(MIGRATIONS):
            db.execute(migration.sql).fetchall()
        db.execute("PRAGMA foreign_keys=ON")
        states = {LIVE: "live", STAGED: "staged", KEPT: "kept", DELETED: "kept"}
        for number, state in states.items():
            db.execute(
                "INSERT INTO logs (number, id, label, shape, state, chat_high, chat_low, compaction_high,"
                " compaction_low, generation, create_time, length, indexed, deleted)"
                " VALUES (?, ?, '', 'tree', ?, 9, 9, 9, 9, 1, 0, 1, 1, ?)",
                (number, f"log-{number}", state, number == DELETED),
            )
            known = {"log": number, "row_id": row_id(number, 0), "view": "chat"}
            for table in _rows(db):
                columns = db.execute(f"SELECT name, type FROM pragma_table_info('{table}')").fetchall()
                values = {name: known.get(name, EMPTY[kind]) for name, kind in columns}
                marks = ", ".join("?" * len(values))
                db.execute(
                    f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", tuple(values.values())
                )
            db.execute("INSERT INTO message_words (rowid, words) VALUES (?, 'archaeopteryx')", (number,))
        yield db


def test_a_copy_keeps_live_logs_and_no_row_of_others(crowded):
    """A staged log is an import that has not ended: it begins anew after a restore."""
    before = _rows(crowded)

    prune(crowded)

    assert {"messages", "nodes", "view_lines", "unbuilt_leaves", "ready_merges"} <= set(before)
    assert all(set(logs) == {LIVE, STAGED, KEPT, DELETED} for logs in before.values())
    assert all(logs == {LIVE: 1} for logs in _rows(crowded).values())
    assert crowded.execute("SELECT number, indexed FROM logs ORDER BY number").fetchall() == [(LIVE, 0)]
    assert crowded.execute("PRAGMA foreign_key_check").fetchall() == []


def test_a_copy_has_an_index_that_is_empty_and_can_be_filled_again(crowded):
    prune(crowded)

    found = "SELECT rowid FROM message_words WHERE message_words MATCH 'archaeopteryx'"
    assert crowded.execute(found).fetchall() == []
    crowded.execute("INSERT INTO message_words (rowid, words) VALUES (1, 'archaeopteryx')")
    assert crowded.execute(found).fetchall() == [(1,)]
    settings = dict(crowded.execute("SELECT k, v FROM message_words_config").fetchall())
    assert settings["automerge"] == 0, "an index that is left to itself holds up commits"
    assert crowded.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


async def _backup(service):
    """A copy of the store of a service that runs."""
    async with open_channel(service.address, token=service.token("operator"), name="memory") as channel:
        ops = ops_service_pb2_grpc.SnapshotServiceStub(channel)
        frozen = await ops.Freeze(ops_service_pb2.FreezeRequest(request_id="backup"), timeout=20)
        await ops.Thaw(ops_service_pb2.ThawRequest(snapshot_id=frozen.snapshot_id), timeout=20)
        request = ops_service_pb2.ReadSnapshotRequest(snapshot_id=frozen.snapshot_id)
        chunks = [one.chunk async for one in ops.ReadSnapshot(request, timeout=60)]
    content = b"".join(chunk.content for chunk in chunks)
    assert chunks[-1].sha256 == hashlib.sha256(content).digest()
    return content


async def test_a_backup_of_the_service_holds_the_live_chat_and_no_trace_of_one_set_aside(tmp_path):
    """A kept log is what the user had replaced; a backup that goes to other hands must not hold it."""
    data, restored = tmp_path / "data", tmp_path / "restored"
    (restored / "memory").mkdir(parents=True)
    data.mkdir()
    async with remembering(data) as memory:
        await memory.create()
        await memory.append(*[f"{SET_ASIDE} {number}" for number in range(40)], "x" * 600)
        await memory.build_all(line=f"{SET_ASIDE} in a line")
        words_of_both = len(await memory.found(SET_ASIDE))
        await memory.create("staged", state="LOG_STATE_STAGED")
        await memory.append(*[f"{LEFT} {number}" for number in range(40)], log="staged")
        await memory.swap()
        words_of_both += len(await memory.found(LEFT))
    with started("memory", data) as service:
        copy = await _backup(service)
        service.stop()

    (restored / "memory" / "store.db").write_bytes(copy)
    async with remembering(data) as memory, remembering(restored) as again:
        assert await again.messages() == await memory.messages()
        assert (await again.view()).text == (await memory.view()).text
        assert await again.found(LEFT) == await memory.found(LEFT)
        assert set(await again.logs()) == {"log"}
        assert set(await memory.logs()) == {"log", "kept"}
        await again.append("after", log="log")
    assert words_of_both == 40, "two full pages: the index held the words of both"
    assert SET_ASIDE.encode() in (data / "memory" / "store.db").read_bytes()
    assert SET_ASIDE.encode() not in copy
    assert LEFT.encode() in copy
