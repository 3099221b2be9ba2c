"""The tables of nodes, queues and views (migrations 0002, 0007 and 0009), for one log within one transaction.

A leaf that is its own line has no row among the nodes: its message says so. A view's rows are its lines that
merged; the messages beside them are lines of their own.

No query here looks at more than a view, a queue's head or a path of the tree. The rules: domain/ready.py and
domain/view.py. Logs and messages: log_store.py. What a change gathers before it writes: tree_draft.py.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

import apsw
from onechat_runtime.clock import micros

from onechat_memory.adapters.cost_store import CostStore
from onechat_memory.adapters.rebuild_store import RebuildStore
from onechat_memory.adapters.row_ids import row_id
from onechat_memory.domain.ready import LEAVES_AHEAD
from onechat_memory.domain.tree import Node, leaf
from onechat_memory.domain.view import Limits, View

FREE: Final = "free"  #: builder of a node whose source fits as it is
_ADD_NODE: Final = (
    "INSERT INTO nodes (log, last, level, text, builder, time, degraded) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_TEXT: Final = "SELECT text FROM nodes WHERE log = ? AND last = ? AND level = ?"
_SIZE: Final = "SELECT octet_length(text) FROM nodes WHERE log = ? AND last = ? AND level = ?"
_OWN: Final = "FROM messages WHERE row_id = ? AND line_time IS NOT NULL"
_OWN_LINE: Final = f"SELECT kind || ': ' || text {_OWN}"
_OWN_LINE_SIZE: Final = f"SELECT octet_length(kind) + 2 + octet_length(text) {_OWN}"
_LEAVES: Final = (
    "SELECT m.id, CASE WHEN m.line_time IS NULL"
    " THEN (SELECT n.text FROM nodes AS n WHERE n.log = ? AND n.last = m.id AND n.level = 0)"
    " ELSE m.kind || ': ' || m.text END"
    " FROM messages AS m WHERE m.row_id >= ? AND m.row_id < ? ORDER BY m.row_id"
)


class Which(StrEnum):
    """A log's two views."""

    CHAT = "chat"  #: what turns read
    COMPACTION = "compaction"  #: what compactions read


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A node's line on its way into the store."""

    node: Node
    text: str
    builder: str  #: free, head, demo, or the model's name
    degraded: bool = False


class TreeStore:
    """One log's tree, queues and views as one connection sees them."""

    def __init__(self, db: apsw.Connection, log: int) -> None:
        self._db = db
        self._log = log
        self.rebuilds = RebuildStore(db, log)
        self.costs = CostStore(db, log)

    # Nodes

    def text(self, node: Node) -> str | None:
        """The text of `node`; None while it is not built."""
        found: str | None = None if node.level else self._one(_OWN_LINE, row_id(self._log, node.index))
        if found is None:
            found = self._one(_TEXT, self._log, node.last, node.level)
        return found

    def size(self, node: Node) -> int | None:
        """The UTF-8 bytes of the text of `node`; None while it is not built."""
        found: int | None = None if node.level else self._one(_OWN_LINE_SIZE, row_id(self._log, node.index))
        if found is None:
            found = self._one(_SIZE, self._log, node.last, node.level)
        return found

    def _one(self, query: str, *values: int) -> Any:
        row = self._db.execute(query, values).fetchone()
        return None if row is None else row[0]

    def add(self, built: Iterable[Built], now: datetime) -> None:
        """Write nodes' lines."""
        time = micros(now)
        self._db.executemany(
            _ADD_NODE,
            [
                (self._log, one.node.last, one.node.level, one.text, one.builder, time, one.degraded)
                for one in built
            ],
        )

    # Queues

    def queue_leaves(self, messages: Iterable[int]) -> None:
        """The leaves of `messages` wait for a model."""
        self._db.executemany(
            "INSERT INTO unbuilt_leaves VALUES (?, ?)", [(self._log, message) for message in messages]
        )

    def queue_merges(self, nodes: Iterable[Node]) -> None:
        """Both halves of each of `nodes` are built, and it waits for a model."""
        self._db.executemany(
            "INSERT INTO ready_merges VALUES (?, ?, ?)",
            [(self._log, node.last, node.level) for node in nodes],
        )

    def unqueue(self, node: Node) -> None:
        """`node` waits for a model no more, and its failures are forgotten."""
        if node.level:
            self._db.execute(
                "DELETE FROM ready_merges WHERE log = ? AND last = ? AND level = ?",
                (self._log, node.last, node.level),
            )
        else:
            self._db.execute(
                "DELETE FROM unbuilt_leaves WHERE log = ? AND message = ?", (self._log, node.index)
            )
        self._db.execute(
            "DELETE FROM failures WHERE log = ? AND level = ? AND place = ?",
            (self._log, node.level, node.index),
        )

    def ready_leaves(self) -> list[Node]:
        """The leaves that are ready, oldest first."""
        rows = self._db.execute(
            "SELECT message FROM unbuilt_leaves WHERE log = ? ORDER BY message LIMIT ?",
            (self._log, LEAVES_AHEAD),
        )
        return [leaf(row[0]) for row in rows]

    def ready_merges(self, most: int) -> list[Node]:
        """Up to `most` ready merges, the one with the oldest last message first."""
        rows = self._db.execute(
            "SELECT last, level FROM ready_merges WHERE log = ? ORDER BY last, level LIMIT ?",
            (self._log, most),
        )
        return [Node(level, last >> level) for last, level in rows]

    def is_ready_merge(self, node: Node) -> bool:
        """Whether both halves of `node` are built and it is not."""
        row = self._db.execute(
            "SELECT 1 FROM ready_merges WHERE log = ? AND last = ? AND level = ?",
            (self._log, node.last, node.level),
        ).fetchone()
        return row is not None

    def count_ready_merges(self) -> int:
        """How many merges wait for a model."""
        row = self._db.execute("SELECT count(*) FROM ready_merges WHERE log = ?", (self._log,)).fetchone()
        return int(row[0]) if row else 0

    def failures(self, node: Node) -> int:
        """How often the content of `node` failed."""
        row = self._db.execute(
            "SELECT count FROM failures WHERE log = ? AND level = ? AND place = ?",
            (self._log, node.level, node.index),
        ).fetchone()
        return 0 if row is None else int(row[0])

    def add_failure(self, node: Node) -> int:
        """Count one more failure of `node`; how many there are now."""
        self._db.execute(
            "INSERT INTO failures (log, level, place, count) VALUES (?, ?, ?, 1)"
            " ON CONFLICT (log, level, place) DO UPDATE SET count = count + 1",
            (self._log, node.level, node.index),
        )
        return self.failures(node)

    def count_failing(self) -> int:
        """How many nodes failed and have had no line since."""
        row = self._db.execute(
            "SELECT count(*) FROM failures WHERE log = ? AND count > 0", (self._log,)
        ).fetchone()
        return int(row[0]) if row else 0

    # Views

    def write_lines(self, which: Which, levels: Mapping[int, int | None]) -> None:
        """Write lines that merged: levels by first messages, None for one that merged into another."""
        gone = [(self._log, which, first) for first, level in levels.items() if level is None]
        stay = [(self._log, which, first, level) for first, level in levels.items() if level is not None]
        if gone:
            self._db.executemany("DELETE FROM view_lines WHERE log = ? AND view = ? AND first = ?", gone)
        self._db.executemany(
            "INSERT INTO view_lines VALUES (?, ?, ?, ?)"
            " ON CONFLICT (log, view, first) DO UPDATE SET level = excluded.level",
            stay,
        )

    def lines(self, which: Which, length: int) -> Iterator[tuple[Node, str | None]]:
        """A view's nodes with their texts, oldest first; None for one that is not built.

        `length` is the log's. They are read as they are asked for. Raises apsw.CorruptError where a message
        is not there.
        """
        rows = self._db.execute(
            "SELECT v.first, v.level, n.text FROM view_lines AS v LEFT JOIN nodes AS n"
            " ON n.log = v.log AND n.last = v.first + (1 << v.level) - 1 AND n.level = v.level"
            " WHERE v.log = ? AND v.view = ? ORDER BY v.first",
            (self._log, which.value),
        )
        end = 0
        for first, level, text in rows:
            yield from self._leaves(end, first)
            yield Node(level, first >> level), text
            end = first + (1 << level)
        yield from self._leaves(end, length)

    def _leaves(self, start: int, end: int) -> Iterator[tuple[Node, str | None]]:
        """The lines of the messages from `start` up to and without `end`."""
        if start == end:
            return
        rows = self._db.execute(_LEAVES, (self._log, row_id(self._log, start), row_id(self._log, end)))
        for message in range(start, end):
            row = rows.fetchone()
            if row is None or row[0] != message:
                raise apsw.CorruptError(f"message {message} of a log is missing")
            yield leaf(message), row[1]

    def lines_to_unbuilt(self, which: Which, length: int) -> list[tuple[Node, str | None]]:
        """The same up to the first that is not built, that one included; a backlog behind it is not read."""
        seen: list[tuple[Node, str | None]] = []
        for node, text in self.lines(which, length):
            seen.append((node, text))
            if text is None:
                break
        return seen

    def restore(self, which: Which, limits: Limits, *, length: int, size: int, owed: bool) -> View:
        """A view of `length` messages as its rows say, ready to go on; the rest is the log's row's.

        Reads no node and no message.
        """
        levels: dict[int, int] = {}
        end = 0
        for first, level in self._db.execute(
            "SELECT first, level FROM view_lines WHERE log = ? AND view = ? ORDER BY first",
            (self._log, which.value),
        ):
            levels.update(dict.fromkeys(range(end, first), 0))
            levels[first] = level
            end = first + (1 << level)
        levels.update(dict.fromkeys(range(end, length), 0))
        return View.restore(limits, levels, size=size, owed=owed)


def next_log_with_work(db: apsw.Connection, after: int) -> int | None:
    """The number of the first log past `after` in which something is ready; None when there is none."""
    row = db.execute(
        "SELECT min(log) FROM (SELECT min(log) AS log FROM unbuilt_leaves WHERE log > ?1"
        " UNION ALL SELECT min(log) FROM ready_merges WHERE log > ?1)",
        (after,),
    ).fetchone()
    return None if row is None else row[0]
