"""The store's rows on what Telegram tells of groups beside messages. Functions on a connection, for
transactions.

The groups themselves: groups/rows.py.
"""

import apsw

from onechat_telegram.domain.ids import BotId, BotProfile, ChatId


def profile(db: apsw.Connection, bot: BotId) -> BotProfile | None:
    """Who `bot` was when Telegram last said it."""
    sql = "SELECT user_name, name, hears_all FROM profiles WHERE bot = ?"
    for user_name, name, hears_all in db.execute(sql, (bot,)).fetchall():
        return BotProfile(bot=bot, user_name=str(user_name), name=str(name), hears_all=bool(hears_all))
    return None


def keep_profile(db: apsw.Connection, one: BotProfile) -> None:
    """Telegram says that the bot is `one`."""
    db.execute(
        "INSERT OR REPLACE INTO profiles (bot, user_name, name, hears_all) VALUES (?, ?, ?, ?)",
        (one.bot, one.user_name, one.name, one.hears_all),
    )


def basic_groups(db: apsw.Connection) -> list[ChatId]:
    """The basic groups that the bot is in, as far as is known."""
    return [ChatId(int(row[0])) for row in db.execute("SELECT chat FROM basic_groups ORDER BY chat")]


def is_basic_group(db: apsw.Connection, chat: ChatId) -> bool:
    """Whether `chat` is known as a basic group."""
    return db.execute("SELECT 1 FROM basic_groups WHERE chat = ?", (chat,)).get is not None


def add_basic_group(db: apsw.Connection, chat: ChatId) -> None:
    """The bot is in the basic group `chat`."""
    db.execute("INSERT INTO basic_groups (chat) VALUES (?) ON CONFLICT DO NOTHING", (chat,))


def forget_basic_group(db: apsw.Connection, chat: ChatId) -> None:
    """The bot is in it no more, or it is none any longer."""
    db.execute("DELETE FROM basic_groups WHERE chat = ?", (chat,))


def upgrade(db: apsw.Connection, old: ChatId, new: ChatId, *, join_due: bool) -> None:
    """The basic group `old` is the supergroup `new` now. Once is enough."""
    db.execute(
        "INSERT INTO upgrades (new, old, join_due) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (new, old, join_due),
    )
    forget_basic_group(db, old)


def was_before(db: apsw.Connection, new: ChatId) -> ChatId | None:
    """The basic group that `new` was."""
    found = db.execute("SELECT old FROM upgrades WHERE new = ?", (new,)).get
    return None if found is None else ChatId(int(found))


def join_due(db: apsw.Connection, new: ChatId) -> bool:
    """Whether the bot's joining of `new` is still to be told."""
    return bool(db.execute("SELECT join_due FROM upgrades WHERE new = ?", (new,)).get)


def joined(db: apsw.Connection, new: ChatId) -> None:
    """The bot's joining of `new` was told, or will not be."""
    db.execute("UPDATE upgrades SET join_due = 0 WHERE new = ?", (new,))


def name_topic(db: apsw.Connection, chat: ChatId, thread: int, name: str) -> None:
    """The topic `thread` of `chat` is called `name`."""
    db.execute("INSERT OR REPLACE INTO topics (chat, thread, name) VALUES (?, ?, ?)", (chat, thread, name))


def topic_name(db: apsw.Connection, chat: ChatId, thread: int) -> str:
    """What that topic is called; empty where nobody has said it."""
    sql = "SELECT name FROM topics WHERE chat = ? AND thread = ?"
    return str(db.execute(sql, (chat, thread)).get or "")
