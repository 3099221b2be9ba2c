"""What tells whether a log's rows belong together: the queries behind soundness.py.

Each query looks at the ends of logs, at views, or at a range of one log; deleted logs are passed over.
"""

from collections.abc import Iterator
from typing import Any

import apsw

from onechat_memory.adapters.log_store import LogStore
from onechat_memory.adapters.tree_store import Which
from onechat_memory.domain.lines import PLACEHOLDER_SIZE
from onechat_memory.domain.messages import Message


def fault_at_an_end(db: apsw.Connection) -> str | None:
    """The first log that does not end where its row says, or whose view does not tile it; None for none."""
    row: tuple[Any, ...] | None = db.execute(
        "SELECT number FROM logs WHERE deleted = 0 AND length <>"
        " (SELECT coalesce(max(id), -1) + 1 FROM messages WHERE log = logs.number) LIMIT 1"
    ).fetchone()
    if row is not None:
        return f"log {row[0]} does not end where its row says"
    trees: list[tuple[Any, ...]] = db.execute(
        "SELECT number, length FROM logs WHERE shape = 'tree' AND deleted = 0"
    ).fetchall()
    for number, messages_kept in trees:
        for view in Which:
            if not _tiles(db, number, view, messages_kept):
                return f"log {number}: the {view.value} view does not tile it"
    return None


def _tiles(db: apsw.Connection, number: int, view: Which, length: int) -> bool:
    lines = db.execute(
        "SELECT first, level FROM view_lines WHERE log = ? AND view = ? ORDER BY first", (number, view.value)
    )
    end = 0
    for first, level in lines:  # by numbers alone: a view can have thousands of lines
        if first != end or first % (1 << level):
            return False
        end += 1 << level
    return end == length


def next_log(db: apsw.Connection, after: int) -> int | None:
    """The number of the first log past `after` that is not deleted."""
    row = db.execute("SELECT min(number) FROM logs WHERE number > ? AND deleted = 0", (after,)).fetchone()
    return None if row is None else row[0]


def length(db: apsw.Connection, number: int) -> int | None:
    """How many messages a log's row counts; None for a log that is gone."""
    row = db.execute("SELECT length FROM logs WHERE number = ? AND deleted = 0", (number,)).fetchone()
    return None if row is None else int(row[0])


def messages(db: apsw.Connection, number: int, start: int, end: int) -> Iterator[tuple[Message, bytes]]:
    """Messages from `start` up to and without `end`, each with the hash of its whole body."""
    hashes = db.execute(
        "SELECT body_hash FROM messages WHERE log = ? AND id >= ? AND id < ? ORDER BY id",
        (number, start, end),
    )
    found = LogStore(db).messages(number, start, end)
    return ((message, hashed) for message, (hashed,) in zip(found, hashes, strict=True))


def line_fault(db: apsw.Connection, number: int, start: int, end: int) -> str | None:
    """What is wrong with the lines of the nodes that end with one of these messages; None for nothing.

    A leaf has a line or waits for one, and one that is its message says what the message says. Raises
    UnicodeDecodeError for a line that is no text. A flat log has no lines.
    """
    row = db.execute(
        "SELECT m.id FROM messages AS m JOIN logs AS l ON l.number = m.log AND l.shape = 'tree'"
        " WHERE m.log = ?1 AND m.id >= ?2 AND m.id < ?3 AND 1 <>"
        " (SELECT count(*) FROM nodes WHERE log = ?1 AND last = m.id AND level = 0"
        " AND (builder <> 'free' OR text = m.kind || ': ' || m.text))"
        " + (SELECT count(*) FROM unbuilt_leaves WHERE log = ?1 AND message = m.id) LIMIT 1",
        (number, start, end),
    ).fetchone()
    if row is not None:
        return f"message {row[0]} has no line of its own and waits for none, or both"
    db.execute(
        "SELECT text FROM nodes WHERE log = ? AND last >= ? AND last < ?", (number, start, end)
    ).fetchall()
    return None


def view_bytes_fault(db: apsw.Connection, number: int) -> str | None:
    """Which view of a log is not of the bytes that its row says; None for neither, or for a log that is gone.

    O(lines of views), a look at a node for each.
    """
    for view in Which:
        row = db.execute(
            f"SELECT 1 FROM logs WHERE number = ?1 AND deleted = 0 AND {view}_bytes <>"
            " (SELECT coalesce(sum(coalesce(octet_length(n.text), ?2)), 0) FROM view_lines AS v"
            " LEFT JOIN nodes AS n"
            " ON n.log = v.log AND n.last = v.first + (1 << v.level) - 1 AND n.level = v.level"
            " WHERE v.log = ?1 AND v.view = ?3)",
            (number, PLACEHOLDER_SIZE, view.value),
        ).fetchone()
        if row is not None:
            return f"the {view.value} view is not of the bytes that its row says"
    return None
