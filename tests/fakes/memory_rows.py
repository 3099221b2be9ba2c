"""A memory's tree and views as its tables say them: with what has no row, since it follows from the messages.

Each is of the log called `number` there.
"""

from typing import Any

import apsw

_NODES = """
SELECT level, place, text, builder, degraded, time FROM nodes WHERE log = ?1
UNION ALL
SELECT 0, id, kind || ': ' || text, 'free', 0, line_time FROM messages
WHERE log = ?1 AND line_time IS NOT NULL
ORDER BY level, place
"""


def nodes_of(db: apsw.Connection, number: int) -> list[tuple[Any, ...]]:
    """The level, place, text, builder, mark of a poor line, and time of each built node, in order."""
    return db.execute(_NODES, (number,)).fetchall()


def lines_of(db: apsw.Connection, number: int, view: str) -> list[tuple[int, int]]:
    """The first message and the level of each line of `view`, oldest first."""
    (length,) = db.execute("SELECT length FROM logs WHERE number = ?", (number,)).fetchall()[0]
    merged = "SELECT first, level FROM view_lines WHERE log = ? AND view = ? ORDER BY first"
    lines, end = list[tuple[int, int]](), 0
    for first, level in [*db.execute(merged, (number, view)), (length, 0)]:
        lines += [(message, 0) for message in range(end, first)]
        if first < length:
            lines.append((first, level))
        end = first + 2**level
    return lines
