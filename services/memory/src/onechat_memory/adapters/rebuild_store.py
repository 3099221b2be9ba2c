"""The table of nodes that are to be built again (migrations/0006_upkeep.sql), for one log in one transaction.

Such a node is built and keeps its line until the new one comes. When one is handed out: compactions.py. Nodes
and queues of a tree that grows: tree_store.py.
"""

from datetime import datetime
from typing import Final

import apsw
from onechat_runtime.clock import micros

from onechat_memory.domain.tree import Node

# The index is used only where its own condition stands as it is.
_POORLY_BUILT: Final = (
    "FROM nodes WHERE log = ? AND (degraded = 1 OR builder = 'demo')"
    " AND (? AND degraded = 1 OR ? AND builder = 'demo')"
)


class RebuildStore:
    """One log's nodes that are to be built again, as one connection sees them."""

    __slots__ = ("_db", "_log")

    def __init__(self, db: apsw.Connection, log: int) -> None:
        self._db = db
        self._log = log

    def mark(self, *, degraded: bool, demo: bool) -> int:
        """All nodes that are degraded, or that demo built, as is wished, wait from now on; how many that are.

        It looks at the poorly built nodes alone; a hundred thousand of them take a sixth of a second.
        """
        wished = (self._log, degraded, demo)
        row = self._db.execute(f"SELECT count(*) {_POORLY_BUILT}", wished).fetchone()
        # In the order of their rows: twice as quick as in that of the index.
        self._db.execute(
            f"INSERT INTO rebuilds SELECT log, last, level {_POORLY_BUILT}"
            " ORDER BY 2, 3 ON CONFLICT DO NOTHING",
            wished,
        )
        return int(row[0]) if row else 0

    def has(self, node: Node) -> bool:
        """Whether `node` is to be built again."""
        row = self._db.execute(
            "SELECT 1 FROM rebuilds WHERE log = ? AND last = ? AND level = ?",
            (self._log, node.last, node.level),
        ).fetchone()
        return row is not None

    def ready(self, most: int) -> list[Node]:
        """Up to `most` of them of which no half waits too, the one with the oldest last message first."""
        rows = self._db.execute(
            "SELECT last, level FROM rebuilds AS r WHERE log = ?1 AND NOT EXISTS ("
            " SELECT 1 FROM rebuilds AS h WHERE h.log = ?1 AND h.level = r.level - 1"
            " AND h.last IN (r.last, r.last - (1 << (r.level - 1))))"
            " ORDER BY last, level LIMIT ?2",
            (self._log, most),
        )
        return [Node(level, last >> level) for last, level in rows]

    def count(self) -> int:
        """How many wait."""
        row = self._db.execute("SELECT count(*) FROM rebuilds WHERE log = ?", (self._log,)).fetchone()
        return int(row[0]) if row else 0

    def replace(self, node: Node, text: str, builder: str, now: datetime) -> bool:
        """Give `node` its new line, and let it wait no more; whether its old line was its source's head."""
        place = (self._log, node.last, node.level)
        row = self._db.execute(
            "SELECT degraded FROM nodes WHERE log = ? AND last = ? AND level = ?", place
        ).fetchone()
        self._db.execute(
            "UPDATE nodes SET text = ?, builder = ?, time = ?, degraded = 0"
            " WHERE log = ? AND last = ? AND level = ?",
            (text, builder, micros(now), *place),
        )
        self.drop(node)
        return row is not None and bool(row[0])

    def drop(self, node: Node) -> None:
        """`node` stays as it is."""
        self._db.execute(
            "DELETE FROM rebuilds WHERE log = ? AND last = ? AND level = ?",
            (self._log, node.last, node.level),
        )
        self._db.execute(
            "DELETE FROM failures WHERE log = ? AND level = ? AND place = ?",
            (self._log, node.level, node.index),
        )


def next_log_with_rebuilds(db: apsw.Connection, after: int) -> int | None:
    """The number of the first log past `after` with a node that is to be built again; None for none."""
    row = db.execute("SELECT min(log) FROM rebuilds WHERE log > ?", (after,)).fetchone()
    return None if row is None else row[0]
