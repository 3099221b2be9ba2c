"""The store's rows on drafts: messages that show a text as it comes, to be deleted.

Functions on a connection. When they come and go: drafts.py.
"""

from typing import Any

import apsw

from onechat_telegram.domain.ids import BotId, ChatId, MessageId


def all_of(db: apsw.Connection, bot: BotId) -> list[tuple[ChatId, MessageId]]:
    """The chat and the message of each draft of `bot`."""
    rows: list[Any] = db.execute("SELECT chat, message FROM drafts WHERE bot = ?", (bot,)).fetchall()
    return [(ChatId(chat), MessageId(message)) for chat, message in rows]


def keep(db: apsw.Connection, bot: BotId, chat: ChatId, message: MessageId) -> None:
    """`message` is a draft in `chat`."""
    db.execute("INSERT INTO drafts VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (bot, chat, message))


def forget(db: apsw.Connection, bot: BotId, chat: ChatId, message: MessageId) -> None:
    """`message` is a draft no more."""
    db.execute("DELETE FROM drafts WHERE bot = ? AND chat = ? AND message = ?", (bot, chat, message))
