"""The store's rows on groups and what became of their ids. Functions on a connection, for transactions.

Messages that were taken: heard_rows.py. Open batches: batch_rows.py. Private chats and confirmations:
private_rows.py. Instants are aware, UTC.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import apsw
from onechat_runtime.clock import instant, micros

from onechat_telegram.groups.domain.group import Group, GroupState
from onechat_telegram.groups.domain.ids import AgentId, ChatId, MemberId, MessageId, Source
from onechat_telegram.groups.domain.messages import Place
from onechat_telegram.groups.domain.settings import DetectorKind, GroupSettings

_SELECT: Final = (
    "SELECT chat, title, state, source, agent, detector, names, ask_model, learn, private_chats FROM groups"
)


def group(db: apsw.Connection, chat: ChatId) -> Group | None:
    """The group of that id, which is its present one."""
    return next(iter(_groups(db.execute(f"{_SELECT} WHERE chat = ?", (chat,)))), None)


def groups(db: apsw.Connection) -> list[Group]:
    """All groups, also those that were left; by id."""
    return _groups(db.execute(f"{_SELECT} ORDER BY chat"))


def save(db: apsw.Connection, one: Group, now: datetime) -> None:
    """Keep `one` as it is; `now` counts as its last change."""
    settings = one.settings
    db.execute(
        "INSERT INTO groups (chat, title, state, source, agent, detector, names, ask_model, learn,"
        " private_chats, time) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (chat) DO UPDATE SET"
        " title = excluded.title, state = excluded.state, agent = excluded.agent,"
        " detector = excluded.detector, names = excluded.names, ask_model = excluded.ask_model,"
        " learn = excluded.learn, private_chats = excluded.private_chats, time = excluded.time",
        (
            one.chat,
            one.title,
            one.state.value,
            one.source,
            one.agent,
            settings.detector.value,
            json.dumps(settings.names),
            settings.ask_model,
            settings.learn,
            settings.private_chats,
            micros(now),
        ),
    )


def retitle(db: apsw.Connection, chat: ChatId, title: str) -> None:
    """The group has another title now, which does not count as a change of its state."""
    db.execute("UPDATE groups SET title = ? WHERE chat = ?", (title, chat))


def move(db: apsw.Connection, old: ChatId, new: ChatId) -> None:
    """The group `old` is called `new` from now on, wherever it is named here. Once is enough."""
    if old == new or db.execute("SELECT 1 FROM groups WHERE chat = ?", (old,)).get is None:
        return
    # The new id may have been heard of first: that row knows less.
    db.execute("DELETE FROM groups WHERE chat = ?", (new,))
    db.execute("UPDATE groups SET chat = ? WHERE chat = ?", (new, old))
    for table in ("group_heard", "group_batched", "group_choices"):
        db.execute(f"UPDATE {table} SET chat = ? WHERE chat = ?", (new, old))  # noqa: S608 - written here
    db.execute("UPDATE OR REPLACE group_confirms SET chat = ? WHERE chat = ?", (new, old))
    db.execute("UPDATE group_moves SET new = ? WHERE new = ?", (new, old))
    db.execute("INSERT OR REPLACE INTO group_moves (old, new) VALUES (?, ?)", (old, new))
    # A question that is open names the old id: asked anew, it names the new one.
    db.execute("DELETE FROM group_choices WHERE chat = ''")


def chat_now(db: apsw.Connection, chat: ChatId) -> ChatId:
    """What the group that was ever called `chat` is called now."""
    found = db.execute("SELECT new FROM group_moves WHERE old = ?", (chat,)).get
    return chat if found is None else ChatId(str(found))


def place_now(db: apsw.Connection, place: Place) -> Place:
    """Where an answer to `place` goes now: in a group with another id there is no message to reply to."""
    chat = chat_now(db, place.chat)
    return place if chat == place.chat else Place(chat=chat, message=MessageId(""))


def ask_confirmation(db: apsw.Connection, chat: ChatId, member: MemberId, now: datetime) -> None:
    """Note that `member` was asked at `now` to confirm that the group's memory is to be cleared."""
    db.execute(
        "INSERT OR REPLACE INTO group_confirms (chat, member, time) VALUES (?, ?, ?)",
        (chat, member, micros(now)),
    )


def asked_to_confirm(db: apsw.Connection, chat: ChatId, member: MemberId) -> datetime | None:
    """When `member` was asked."""
    found = db.execute("SELECT time FROM group_confirms WHERE chat = ? AND member = ?", (chat, member)).get
    return None if found is None else instant(int(found))


def forget_confirmations(db: apsw.Connection, chat: ChatId) -> None:
    """Nobody is asked any more."""
    db.execute("DELETE FROM group_confirms WHERE chat = ?", (chat,))


def _groups(found: Sequence[Any] | apsw.Cursor) -> list[Group]:
    return [
        Group(
            chat=ChatId(chat),
            title=title,
            state=GroupState(state),
            source=Source(source),
            agent=AgentId(agent),
            settings=GroupSettings(
                detector=DetectorKind(detector),
                names=tuple(json.loads(names)),
                ask_model=bool(ask_model),
                learn=bool(learn),
                private_chats=bool(private_chats),
            ),
        )
        for chat, title, state, source, agent, detector, names, ask_model, learn, private_chats in found
    ]
