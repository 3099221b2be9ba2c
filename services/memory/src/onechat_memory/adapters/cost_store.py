"""The columns of what lines cost (migrations/0005_costs.sql), for one log within one transaction.

What comes back is counted in the transaction that takes the line or the failure, so a line that is sent twice
counts once. What counts how: domain/costs.py.
"""

import apsw

from onechat_memory.domain.costs import Asked, Costs, cost
from onechat_memory.domain.tree import Node


class CostStore:
    """One log's costs as one connection sees them."""

    __slots__ = ("_db", "_log")

    def __init__(self, db: apsw.Connection, log: int) -> None:
        self._db = db
        self._log = log

    def take(self, node: Node, asked: Asked) -> None:
        """A line of `node` is taken; to be called while its failures are still known."""
        self._add(cost(asked, before=self._asked_before(node), line=True))

    def give_back(self, node: Node, asked: Asked) -> None:
        """`node` came back without a line; the next call for it asks again."""
        self._add(cost(asked, before=self._asked_before(node), line=False))
        if asked.calls:
            self._db.execute(
                "INSERT INTO failures (log, level, place, count, calls) VALUES (?, ?, ?, 0, ?)"
                " ON CONFLICT (log, level, place) DO UPDATE SET calls = calls + excluded.calls",
                (self._log, node.level, node.index, asked.calls),
            )

    def sums(self) -> Costs:
        """What the log's lines have cost so far."""
        row = self._db.execute(
            "SELECT model_lines, model_calls, over_length_answers, retries FROM logs WHERE number = ?",
            (self._log,),
        ).fetchone()
        if row is None:
            return Costs()
        return Costs(lines=row[0], calls=row[1], over_length=row[2], retries=row[3])

    def _asked_before(self, node: Node) -> bool:
        row = self._db.execute(
            "SELECT calls FROM failures WHERE log = ? AND level = ? AND place = ?",
            (self._log, node.level, node.index),
        ).fetchone()
        return row is not None and row[0] > 0

    def _add(self, costs: Costs) -> None:
        if costs != Costs():
            self._db.execute(
                "UPDATE logs SET model_lines = model_lines + ?, model_calls = model_calls + ?,"
                " over_length_answers = over_length_answers + ?, retries = retries + ? WHERE number = ?",
                (costs.lines, costs.calls, costs.over_length, costs.retries, self._log),
            )
