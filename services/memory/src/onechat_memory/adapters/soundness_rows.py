"""What tells whether a log's rows belong together: the queries behind soundness.py.

Each query looks at the ends of logs, at views, or at a range of one log; deleted logs are passed over.
"""

from collections.abc import Iterator
from typing import Any

import apsw

from onechat_memory.adapters.log_store import LogStore
from onechat_memory.adapters.row_ids import ID_BITS, row_id
from onechat_memory.adapters.tree_store import TreeStore, Which
from onechat_memory.domain.lines import PLACEHOLDER_SIZE
from onechat_memory.domain.messages import Message, Shape
from onechat_memory.domain.text import size


def fault_at_an_end(db: apsw.Connection) -> str | None:
    """The first log that does not end where its row says, or whose view does not tile it; None for none."""
    row: tuple[Any, ...] | None = db.execute(
        "SELECT number FROM logs WHERE deleted = 0 AND length <>"
        " (SELECT coalesce(max(row_id) + 1 - (number << ?1), 0) FROM messages"
        " WHERE row_id >= number << ?1 AND row_id < (number + 1) << ?1) LIMIT 1",
        (ID_BITS,),
    ).fetchone()
    if row is not None:
        return f"log {row[0]} does not end where its row says"
    trees: list[tuple[Any, ...]] = db.execute(
        "SELECT number, length, chat_lines, compaction_lines FROM logs WHERE shape = 'tree' AND deleted = 0"
    ).fetchall()
    for number, messages_kept, chat, compaction in trees:
        for view, lines in ((Which.CHAT, chat), (Which.COMPACTION, compaction)):
            if not _tiles(db, number, view, messages_kept, lines):
                return f"log {number}: the {view.value} view does not tile it"
    return None


def _tiles(db: apsw.Connection, number: int, view: Which, length: int, lines: int) -> bool:
    """Whether the lines that merged, with a line for each message beside them, are as many as are counted."""
    merged = db.execute(
        "SELECT first, level FROM view_lines WHERE log = ? AND view = ? ORDER BY first", (number, view.value)
    )
    end, messages_seen = 0, lines
    for first, level in merged:  # by numbers alone: a view can have thousands of lines
        if level < 1 or first < end or first % (1 << level):
            return False
        end = first + (1 << level)
        messages_seen += (1 << level) - 1
    return end <= length == messages_seen


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
        "SELECT body_hash FROM messages WHERE row_id >= ? AND row_id < ? ORDER BY row_id",
        (row_id(number, start), row_id(number, end)),
    )
    found = LogStore(db).messages(number, start, end)
    return ((message, hashed) for message, (hashed,) in zip(found, hashes, strict=True))


def line_fault(db: apsw.Connection, number: int, start: int, end: int) -> str | None:
    """What is wrong with the lines of the nodes that end with one of these messages; None for nothing.

    A leaf is its message, where that is marked so (whatever a line may have by now), or has a line or waits
    for one. Raises UnicodeDecodeError for a line that is no text. A flat log has no lines.
    """
    row = db.execute(
        "SELECT m.id FROM logs AS l CROSS JOIN messages AS m"
        " WHERE l.number = ?1 AND l.shape = 'tree' AND m.row_id >= ?2 AND m.row_id < ?3"
        " AND 1 <> (m.line_time IS NOT NULL)"
        " + (SELECT count(*) FROM nodes WHERE log = ?1 AND last = m.id AND level = 0)"
        " + (SELECT count(*) FROM unbuilt_leaves WHERE log = ?1 AND message = m.id) LIMIT 1",
        (number, row_id(number, start), row_id(number, end)),
    ).fetchone()
    if row is not None:
        return f"message {row[0]} has no line of its own and waits for none, or both"
    db.execute(
        "SELECT text FROM nodes WHERE log = ? AND last >= ? AND last < ?", (number, start, end)
    ).fetchall()
    return None


def view_bytes_fault(db: apsw.Connection, number: int) -> str | None:
    """Which view of a log is not of the bytes that its row says; None for neither, or for a log that is gone.

    O(lines of views), a look at a message or a node for each.
    """
    row = LogStore(db).log_by_number(number)
    if row is None or row.asked.shape is Shape.FLAT:
        return None
    tree = TreeStore(db, number)
    for view, counted in ((Which.CHAT, row.chat_bytes), (Which.COMPACTION, row.compaction_bytes)):
        texts = (text for _, text in tree.lines(view, row.length))
        if counted != sum(PLACEHOLDER_SIZE if text is None else size(text) for text in texts):
            return f"the {view.value} view is not of the bytes that its row says"
    return None
