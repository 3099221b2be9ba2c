"""The store's rows on silence: the gap that runs, the longest of each day, what could not be decrypted.

Functions on a connection, for transactions. Instants are aware, UTC; a day is one of UTC.
"""

from datetime import datetime, timedelta
from typing import Any, Final

import apsw
from onechat_runtime.clock import instant, micros

from onechat_whatsapp.domain.silence import GAPS_OF, Missing, Quiet

KEPT: Final = timedelta(days=90)  #: how long a message that could not be decrypted counts
_DAY: Final = 86_400_000_000  # microseconds
_UNTOLD: Final = "told = 0 AND (noticed_time <= ?1 OR noticed_time > ?2)"


def quiet(db: apsw.Connection) -> Quiet:
    """The gap that runs."""
    rows: list[Any] = db.execute("SELECT last_time, connected_s, told FROM quiet").fetchall()
    for last, connected_s, told in rows:
        return Quiet(last=None if last is None else instant(last), connected_s=connected_s, told=bool(told))
    return Quiet()


def keep_quiet(db: apsw.Connection, gap: Quiet) -> None:
    """Replace the gap that runs."""
    db.execute(
        "INSERT OR REPLACE INTO quiet (only, last_time, connected_s, told) VALUES (1, ?, ?, ?)",
        (None if gap.last is None else micros(gap.last), gap.connected_s, gap.told),
    )


def add_gap(db: apsw.Connection, ended: datetime, gap_s: float) -> None:
    """A gap has ended. Days before the last 14 are forgotten, but for the newest of them."""
    day = micros(ended) // _DAY
    db.execute(
        "INSERT INTO gap_days (day, longest_s) VALUES (?, ?)"
        " ON CONFLICT (day) DO UPDATE SET longest_s = max(longest_s, excluded.longest_s)",
        (day, gap_s),
    )
    # A day that is still to come was noted before the clock was set back.
    db.execute("DELETE FROM gap_days WHERE day < ?1 - ?2 OR day > ?1", (day, GAPS_OF.days))


def longest_gap_s(db: apsw.Connection, now: datetime) -> float | None:
    """The longest gap that ended in the last 14 days; where none did, of the last day that had one."""
    since = micros(now) // _DAY - GAPS_OF.days
    found = db.execute("SELECT max(longest_s) FROM gap_days WHERE day >= ?", (since,)).get
    if found is None:
        found = db.execute("SELECT longest_s FROM gap_days ORDER BY day DESC LIMIT 1").get
    return None if found is None else float(found)


def add_undecryptable(db: apsw.Connection, chat: str, message: str, time: datetime, now: datetime) -> None:
    """The message of that id could not be decrypted; the same one twice counts once."""
    db.execute(
        "INSERT INTO undecryptable (chat, message, time, noticed_time, told) VALUES (?, ?, ?, ?, 0)"
        " ON CONFLICT DO NOTHING",
        (chat, message, micros(time), micros(now)),
    )
    db.execute("DELETE FROM undecryptable WHERE noticed_time < ?", (micros(now - KEPT),))


def is_missing(db: apsw.Connection, chat: str, message: str) -> bool:
    """Whether the message of that id counts as one that could not be decrypted."""
    found = db.execute("SELECT 1 FROM undecryptable WHERE chat = ? AND message = ?", (chat, message)).get
    return found is not None


def came_after_all(db: apsw.Connection, chat: str, message: str) -> None:
    """The message of that id has come once more and could be decrypted."""
    db.execute("DELETE FROM undecryptable WHERE chat = ? AND message = ?", (chat, message))


def undecryptable(db: apsw.Connection) -> int:
    """How many could not be decrypted, all chats together."""
    return int(db.execute("SELECT count(*) FROM undecryptable").get)


def untold(db: apsw.Connection, noticed_before: datetime, now: datetime) -> list[Missing]:
    """What the user was not told of, chat by chat, noticed up to then, or by a clock that was ahead."""
    rows: list[Any] = db.execute(
        f"SELECT chat, count(*), min(time), max(time) FROM undecryptable WHERE {_UNTOLD} GROUP BY chat",
        (micros(noticed_before), micros(now)),
    ).fetchall()
    return [
        Missing(chat=chat, count=count, first=instant(first), last=instant(last))
        for chat, count, first, last in rows
    ]


def set_told(db: apsw.Connection, noticed_before: datetime, now: datetime) -> None:
    """The user is told of what `untold` gave for the same instants."""
    db.execute(f"UPDATE undecryptable SET told = ?2 WHERE {_UNTOLD}", (micros(noticed_before), micros(now)))


def last_told(db: apsw.Connection) -> datetime | None:
    """When the user was last told of messages that could not be decrypted; None: never."""
    time = db.execute("SELECT max(told) FROM undecryptable").get
    return instant(int(time)) if time else None


def forget(db: apsw.Connection) -> None:
    """Forget all of it: another account may be linked next."""
    for table in ("quiet", "gap_days", "undecryptable"):
        db.execute(f"DELETE FROM {table}")
