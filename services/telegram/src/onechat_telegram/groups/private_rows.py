"""The store's rows on members' private chats: which group is meant, and what waits until it is known.

Functions on a connection, for transactions.
"""

import json
from datetime import datetime
from typing import Any

import apsw
from onechat_runtime.clock import micros

from onechat_telegram.groups.domain.ids import ChatId, MemberId, MessageKey
from onechat_telegram.groups.domain.privates import Choice


def choice(db: apsw.Connection, member: MemberId) -> Choice | None:
    """What `member` has chosen, or is being asked."""
    found: list[Any] = db.execute(
        "SELECT chat, offered FROM group_choices WHERE member = ?", (member,)
    ).fetchall()
    for chat, offered in found:
        return Choice(chat=ChatId(chat) if chat else None, offered=tuple(map(ChatId, json.loads(offered))))
    return None


def set_choice(db: apsw.Connection, member: MemberId, one: Choice, now: datetime) -> None:
    """`member` has chosen, or is asked."""
    db.execute(
        "INSERT OR REPLACE INTO group_choices (member, chat, offered, time) VALUES (?, ?, ?, ?)",
        (member, one.chat or "", json.dumps(one.offered), micros(now)),
    )


def held(db: apsw.Connection, member: MemberId) -> list[tuple[MessageKey, str]]:
    """What waits for the answer of `member`, oldest first: each key and what was held."""
    found: list[Any] = db.execute(
        "SELECT key, body FROM group_held WHERE member = ? ORDER BY number", (member,)
    ).fetchall()
    return [(MessageKey(key), str(body)) for key, body in found]


def hold(db: apsw.Connection, member: MemberId, key: MessageKey, body: str) -> None:
    """Let a message wait."""
    db.execute("INSERT INTO group_held (member, key, body) VALUES (?, ?, ?)", (member, key, body))


def release(db: apsw.Connection, member: MemberId) -> None:
    """Nothing of `member` waits any more."""
    db.execute("DELETE FROM group_held WHERE member = ?", (member,))
