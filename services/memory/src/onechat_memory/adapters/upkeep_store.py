"""How logs change places and go: their rows, on one connection within one transaction.

All tables name a log by its number, so a swap moves ids between rows of `logs` and touches nothing else. A
deleted log's row keeps its number until nothing else has it. When all this happens: upkeep.py, removing.py.
"""

from typing import Final

import apsw

from onechat_memory.adapters.log_store import LogRow
from onechat_memory.adapters.row_ids import row_id
from onechat_memory.adapters.search import SearchStore
from onechat_memory.domain.leases import LogId
from onechat_memory.domain.messages import State

ROWS: Final = 128  #: that one step removes
# Each with what tells its rows within a log. Messages come after them, with their words in the index.
_TABLES: Final = {
    "rebuilds": "last, level",
    "failures": "level, place",
    "ready_merges": "last, level",
    "unbuilt_leaves": "message",
    "view_lines": "view, first",
    "nodes": "last, level",
}


class UpkeepStore:
    """Logs that come, go and change places, as one connection sees them."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def is_taken(self, log: LogId) -> bool:
        """Whether some log has this id."""
        return self._db.execute("SELECT 1 FROM logs WHERE id = ?", (log,)).fetchone() is not None

    def swap(self, old: LogRow, new: LogRow, kept: LogId) -> None:
        """`new` takes the id and the label of `old`, and the next generation; `old` is kept as `kept`."""
        self._db.execute(
            "UPDATE logs SET id = ?, state = ? WHERE number = ?", (kept, State.KEPT.value, old.number)
        )
        self._db.execute(
            "UPDATE logs SET id = ?, label = ?, generation = ?, state = ? WHERE number = ?",
            (old.asked.id, old.asked.label, old.generation + 1, State.LIVE.value, new.number),
        )

    def delete(self, row: LogRow) -> None:
        """No call knows the log any more, and its id is free."""
        # A colon stands in no id that a caller can choose.
        self._db.execute(
            "UPDATE logs SET id = ?, deleted = 1 WHERE number = ?", (f"deleted:{row.number}", row.number)
        )

    def remove_some(self) -> bool:
        """Remove up to ROWS rows of a deleted log, and its own row when nothing else is left; False for none.

        Which ones is found from what is there, so it goes on wherever it was interrupted.
        """
        row = self._db.execute("SELECT min(number) FROM logs WHERE deleted = 1").fetchone()
        if row is None or row[0] is None:
            return False
        if not any(self._remove_from(table, row[0]) for table in _TABLES) and not self._remove_messages(
            row[0]
        ):
            self._db.execute("DELETE FROM logs WHERE number = ?", (row[0],))
        return True

    def _remove_from(self, table: str, number: int) -> bool:
        key = _TABLES[table]
        self._db.execute(
            f"DELETE FROM {table} WHERE log = ?1 AND ({key}) IN"
            f" (SELECT {key} FROM {table} WHERE log = ?1 ORDER BY {key} LIMIT ?2)",
            (number, ROWS),
        )
        return self._db.changes() > 0

    def _remove_messages(self, number: int) -> bool:
        start, end = row_id(number, 0), row_id(number + 1, 0)
        row = self._db.execute(
            "SELECT min(row_id) FROM messages WHERE row_id >= ? AND row_id < ?", (start, end)
        ).fetchone()
        if row is None or row[0] is None:
            return False
        some = min(row[0] + ROWS, end)
        SearchStore(self._db).remove(number, row[0] - start, some - start)
        self._db.execute("DELETE FROM messages WHERE row_id >= ? AND row_id < ?", (start, some))
        return True
