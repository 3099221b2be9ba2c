"""The store's rows on bots, their owner, and who was turned away. Functions on a connection, for
transactions.

Pieces and the place in the events: piece_store.py. Instants are aware, UTC.
"""

from datetime import datetime, timedelta
from typing import Final

import apsw
from onechat_runtime.clock import micros

from onechat_telegram.domain.ids import BotId, UserId

REFUSED_AGAIN: Final = timedelta(hours=1)


def next_offset(db: apsw.Connection, bot: BotId) -> int:
    """What the next poll of `bot` begins with; 0 for a bot that was never polled."""
    found = db.execute("SELECT next_offset FROM bots WHERE bot = ?", (bot,)).get
    return 0 if found is None else int(found)


def set_next_offset(db: apsw.Connection, bot: BotId, offset: int) -> None:
    """Begin the next poll with `offset`, be it higher or lower than before: ids begin anew."""
    db.execute(
        "INSERT INTO bots (bot, next_offset) VALUES (?, ?)"
        " ON CONFLICT (bot) DO UPDATE SET next_offset = excluded.next_offset",
        (bot, offset),
    )


def owner(db: apsw.Connection) -> UserId | None:
    """Whom the store knows as the owner."""
    found = db.execute("SELECT user FROM owner").get
    return None if found is None else UserId(int(found))


def set_owner(db: apsw.Connection, user: UserId, now: datetime) -> None:
    """Make `user` the owner; the pairing code is used up."""
    db.execute(
        "INSERT INTO owner (only, user, time) VALUES (1, ?, ?)"
        " ON CONFLICT (only) DO UPDATE SET user = excluded.user, time = excluded.time",
        (user, micros(now)),
    )
    db.execute("DELETE FROM pairing")


def pairing_code(db: apsw.Connection) -> str:
    """The code that pairs; empty when there is none."""
    return str(db.execute("SELECT code FROM pairing").get or "")


def keep_pairing_code(db: apsw.Connection, code: str) -> str:
    """The code that pairs: the one that is there, else `code`."""
    db.execute("INSERT INTO pairing (only, code) VALUES (1, ?) ON CONFLICT DO NOTHING", (code,))
    return pairing_code(db)


def may_refuse(db: apsw.Connection, user: UserId, now: datetime) -> bool:
    """Whether `user` may be told now that the bot is not theirs; noted as told."""
    old = micros(now - REFUSED_AGAIN)
    db.execute("DELETE FROM refusals WHERE time <= ? OR time > ?", (old, micros(now)))
    db.execute("INSERT INTO refusals (user, time) VALUES (?, ?) ON CONFLICT DO NOTHING", (user, micros(now)))
    return db.changes() == 1
