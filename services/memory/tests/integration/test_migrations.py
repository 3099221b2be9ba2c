"""A store that an older version left, brought up to date: what the new columns are filled with."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from onechat_memory.__main__ import MIGRATIONS, NAME
from onechat_memory.adapters import contract_in
from onechat_memory.domain.lines import PLACEHOLDER, PLACEHOLDER_SIZE
from onechat_memory.domain.placing import hashed
from onechat_memory.soundness import Soundness
from onechat_runtime.clock import SystemClock, micros
from onechat_runtime.errors import StartRefused
from onechat_runtime.store import Store, migrations_in

from tests.fakes.disk import Disk
from tests.fakes.memory_at_hand import at_hand
from tests.fakes.memory_rows import nodes_of
from tests.fakes.memory_server import new_message

LOG = (
    "INSERT INTO logs (number, id, label, shape, state, chat_high, chat_low, compaction_high, compaction_low,"
    " generation, create_time) VALUES (?, ?, '', ?, ?, 9, 8, 9, 8, 1, 0)"
)
NODE = "INSERT INTO nodes (log, last, level, text, builder, time, degraded) VALUES (?, ?, ?, ?, 'x', 0, 0)"
LINE = "INSERT INTO view_lines VALUES (?, ?, ?, ?)"
MESSAGE = "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '', 0, '', '[]', 1, 1)"
BUILT = "INSERT INTO nodes (log, last, level, text, builder, time, degraded) VALUES (?, ?, ?, ?, ?, 0, 0)"


@pytest.fixture
def opened_up_to(tmp_path: Path) -> Callable:
    """Opens a store with the first migrations alone, or with all."""

    def opened(number: int | None):
        path, known = tmp_path / NAME / "store.db", migrations_in(MIGRATIONS)[:number]
        return Store.open(path, component=NAME, migrations=known, clock=SystemClock())

    return opened


def two_trees_and_a_flat_log(db: apsw.Connection) -> None:
    db.executemany(
        LOG, [(3, "root", "tree", "live"), (5, "old", "tree", "kept"), (6, "flat", "flat", "live")]
    )
    db.executemany(
        NODE,
        [
            (3, 0, 0, "no line"),
            (3, 3, 2, "é" * 100),
            (3, 3, 1, "nor this"),
            (3, 4, 0, "four"),
            (5, 4, 0, "of 5"),
        ],
    )
    lines = {
        (3, "chat"): ((0, 2), (4, 0), (5, 0)),  # 5+1 is not built
        (3, "compaction"): ((0, 2), (4, 0)),
        (5, "chat"): ((4, 0),),
    }
    db.executemany(LINE, [(*view, *line) for view, some in lines.items() for line in some])


async def test_a_store_without_the_bytes_of_views_gets_them(opened_up_to):
    """Nothing counts them again later: a wrong one would move each batch of its log for ever."""
    async with opened_up_to(7) as store:
        await store.write(two_trees_and_a_flat_log)

    async with opened_up_to(8) as store:
        found = store.read(
            lambda db: db.execute("SELECT id, chat_bytes, compaction_bytes FROM logs ORDER BY 1").fetchall()
        )

    assert found == [("flat", 0, 0), ("old", 4, 0), ("root", 204 + PLACEHOLDER_SIZE, 204)]


def a_tree_and_a_flat_log_with_messages(db: apsw.Connection) -> None:
    """Of the tree, 0 to 3 merged into a line; 4 and 6 are their own lines, a model wrote 5, 7 waits."""
    texts = ["a", "b", "c", "d", "é" * 250, "f" * 600, "g", "h" * 600]
    for number, name, shape in ((3, "root", "tree"), (6, "flat", "flat")):
        db.execute(LOG, (number, name, shape, "live"))
        db.execute(
            "UPDATE logs SET length = 8, chat_high = 9000, compaction_high = 9000 WHERE number = ?", (number,)
        )
        for place, one in enumerate(hashed(contract_in.new_messages([*map(new_message, "01234567", texts)]))):
            body = one.message
            said = (body.kind, body.text, micros(body.time), body.zone, body.key, one.body_hash, body.source)
            db.execute(MESSAGE, (number, place, *said))
    free = [(3, place, 0, f"user: {texts[place]}", "free") for place in (0, 1, 2, 3, 4, 6)]
    merged = [(3, 1, 1, "a and b", "free"), (3, 3, 1, "c and d", "free"), (3, 3, 2, "to d", "free")]
    db.executemany(BUILT, [*free, *merged, (3, 5, 0, "long f", "gpt")])
    db.executemany(LINE, [(3, "chat", 0, 2), *((3, "chat", first, 0) for first in (4, 5, 6, 7))])
    db.executemany(LINE, [(3, "compaction", first, 1) for first in (0, 2)])
    db.executemany(LINE, [(3, "compaction", first, 0) for first in (4, 5, 6, 7)])
    db.execute("INSERT INTO unbuilt_leaves VALUES (3, 7)")
    db.execute("UPDATE logs SET built_nodes = 10, built_leaves = 7 WHERE number = 3")
    sizes = 506 + 6 + 7 + PLACEHOLDER_SIZE
    db.execute(
        "UPDATE logs SET chat_bytes = ?, compaction_bytes = ? WHERE number = 3", (4 + sizes, 14 + sizes)
    )


async def test_a_store_with_a_row_for_each_line_says_the_same_without(opened_up_to, tmp_path):
    """What a message itself says is not said twice any more; no id, line or hash may have moved by that."""
    async with opened_up_to(8) as store:
        await store.write(a_tree_and_a_flat_log_with_messages)

    async with at_hand(tmp_path, SystemClock()) as memory:
        fault = await Soundness(memory.store, SystemClock()).first_fault()
        view, (piece,) = await memory.view("root"), (await memory.lease()).pieces
        stats, nodes = await memory.stats("root"), memory.store.read(lambda db: nodes_of(db, 3))
        again = await memory.append(new_message("0", "a"), new_message("8", "i"), log="root")
        flat = [(message.id, message.key) for message in await memory.messages(log="flat")]
        left = memory.store.read(lambda db: db.execute("SELECT last, level FROM nodes").fetchall())
        rows = memory.store.read(
            lambda db: db.execute("SELECT view, first, level FROM view_lines").fetchall()
        )

    assert fault is None
    assert view.text.splitlines()[1:-1] == [
        "0+4|to d",
        f"4+1|user: {'é' * 250}",
        "5+1|long f",
        "6+1|user: g",
        f"7+1|{PLACEHOLDER}",
    ]
    assert (piece.first_id, piece.source, piece.view_lines_seen) == (7, f"user: {'h' * 600}", 5)
    assert (stats.view_lines, stats.compaction_view_lines, stats.unbuilt_leaves) == (5, 6, 1)
    assert len(nodes) == stats.built_nodes == 10
    assert [(one.first_id, one.known) for one in again.appended] == [(0, True), (8, False)]
    assert flat == [(place, str(place)) for place in range(8)]
    assert left == [(1, 1), (3, 1), (3, 2), (5, 0)]
    assert rows == [("chat", 0, 2), ("compaction", 0, 1), ("compaction", 2, 1)]


async def test_a_leaf_stays_what_it_was_by_whatever_rule_it_was_free(opened_up_to, tmp_path):
    """A line that was given to a model is given again as it was, and is no damage: one that is not its
    message, and one that is though it has more bytes than a line may have.
    """
    async with opened_up_to(8) as store:
        await store.write(a_tree_and_a_flat_log_with_messages)
        await store.write(
            lambda db: db.execute(
                "UPDATE nodes SET text = 'user: h' WHERE log = 3 AND last = 6 AND level = 0;"
                f" UPDATE nodes SET text = 'user: {'f' * 600}', builder = 'free' WHERE text = 'long f';"
                " UPDATE logs SET chat_bytes = chat_bytes + 600, compaction_bytes = compaction_bytes + 600"
                " WHERE number = 3"
            )
        )

    async with at_hand(tmp_path, SystemClock()) as memory:
        fault = await Soundness(memory.store, SystemClock()).first_fault()
        view = await memory.view("root")

    assert fault is None
    assert view.text.splitlines()[3:5] == [f"5+1|user: {'f' * 600}", "6+1|user: h"]


def statements(sql: str) -> Iterator[str]:
    """Each of a migration's by itself."""
    begun = ""
    for line in sql.splitlines():
        begun += line.partition("--")[0] + "\n"
        if sqlite3.complete_statement(begun):
            yield begun
            begun = ""


def test_no_message_is_held_in_memory_while_they_are_written_anew():
    """A sort keeps all that it sorts in memory: of a million messages more than a small machine has."""
    plans = []
    with closing(apsw.Connection(":memory:")) as db:
        for migration in migrations_in(MIGRATIONS):
            for one in statements(migration.sql):
                if migration.number == 9 and one.split()[0] in ("INSERT", "UPDATE", "DELETE"):
                    plans += [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {one}")]
                db.execute(one).fetchall()

    assert "SCAN m USING INDEX sqlite_autoindex_messages_by_row_1" in plans
    assert [step for step in plans if "TEMP B-TREE" in step] == []


async def test_a_disk_that_is_full_at_any_page_of_a_migration_leaves_the_store_as_it_was(
    opened_up_to, tmp_path
):
    """It says so, and goes on once there is room: nothing of the new schema may stay in between."""
    disk, path = Disk("full in a migration", waits=False), tmp_path / NAME / "store.db"
    async with opened_up_to(8) as store:
        await store.write(a_tree_and_a_flat_log_with_messages)
    refused = list[str]()
    try:
        while True:
            disk.room = len(refused)
            try:
                async with at_hand(tmp_path, SystemClock(), vfs=disk.name) as memory:
                    left, view = disk.room, await memory.view("root")
                    ids = [message.id for message in await memory.messages(log="root")]
                    break
            except StartRefused as reason:
                refused.append(str(reason))
            with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as db:
                assert db.execute("SELECT count(*) FROM view_lines WHERE level = 0").get == 8
                assert db.execute("PRAGMA integrity_check").get == "ok"
    finally:
        disk.unregister()

    assert left == 0
    assert len(refused) > 20
    assert [one for one in refused if "full" not in one] == []
    assert (len(view.text.splitlines()), ids) == (7, list(range(8)))
