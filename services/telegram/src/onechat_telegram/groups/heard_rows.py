"""The store's rows on messages that were taken. Functions on a connection, for transactions.

They make that nothing is taken twice, and hold the last few lines of each thread for the detectors. Lines are
looked for by an index of their own, in which only they are: a busy thread has millions of messages.
"""

from datetime import datetime, timedelta
from typing import Final

import apsw
from onechat_runtime.clock import micros

from onechat_telegram.groups.domain.addressing import Line
from onechat_telegram.groups.domain.ids import ChatId, MessageKey, ThreadId

KEPT: Final = timedelta(days=14)  # longer than any platform gives an old message again
LINES_MOST: Final = 6  # of a thread, for the detectors


def is_known(db: apsw.Connection, key: MessageKey) -> bool:
    """Whether the message was taken before."""
    return db.execute("SELECT 1 FROM group_heard WHERE key = ?", (key,)).get is not None


def note(
    db: apsw.Connection,
    key: MessageKey,
    chat: ChatId,
    thread: ThreadId,
    line: str,
    now: datetime,
    *,
    own: bool = False,
) -> bool:
    """Note that a message was taken, and its line; False, and nothing noted, for one that was before."""
    db.execute(
        "INSERT INTO group_heard (key, chat, thread, own, line, time) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        (key, chat, thread, own, line, micros(now)),
    )
    if not db.changes():
        return False
    oldest = db.execute(
        "SELECT number FROM group_heard WHERE chat = ? AND thread = ? AND line != ''"
        " ORDER BY number DESC LIMIT 1 OFFSET ?",
        (chat, thread, LINES_MOST - 1),
    ).get
    if oldest is not None:
        db.execute(
            "UPDATE group_heard SET line = '' WHERE chat = ? AND thread = ? AND number < ? AND line != ''",
            (chat, thread, oldest),
        )
    db.execute("DELETE FROM group_heard WHERE time < ?", (micros(now - KEPT),))
    return True


def before(db: apsw.Connection, chat: ChatId, thread: ThreadId) -> list[Line]:
    """The last lines of a thread, oldest first."""
    found = db.execute(
        "SELECT line, own FROM group_heard WHERE chat = ? AND thread = ? AND line != ''"
        " ORDER BY number DESC LIMIT ?",
        (chat, thread, LINES_MOST),
    ).fetchall()
    return [Line(text=str(line), own=bool(own)) for line, own in reversed(found)]


def forget_lines(db: apsw.Connection, chat: ChatId) -> None:
    """Keep no words of the group; what was taken stays known."""
    db.execute("UPDATE group_heard SET line = '' WHERE chat = ? AND line != ''", (chat,))
