"""The store's rows on messages, open batches and closed ones, until the agent service has them.

Functions on a connection, for transactions. Instants are aware, UTC.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import apsw
from onechat_runtime.clock import instant, micros

from onechat_whatsapp.domain.batches import Batch, Gathered, Group, OpenBatch
from onechat_whatsapp.domain.chat_ids import ChatId
from onechat_whatsapp.domain.ids import BatchKey, CatchUpId, MessageId, ParcelKey
from onechat_whatsapp.domain.messages import Message


def hear(db: apsw.Connection, message: Message, now: datetime) -> bool:
    """Note that `message` is taken; False when it was taken before."""
    db.execute(
        "INSERT INTO heard (chat, message, time) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (message.chat, message.id, micros(now)),
    )
    return db.changes() > 0


def has_heard(db: apsw.Connection, chat: ChatId) -> bool:
    """Whether a message of `chat` was taken, and that is not forgotten."""
    return db.execute("SELECT 1 FROM heard WHERE chat = ? LIMIT 1", (chat,)).get is not None


def forget_heard(db: apsw.Connection, before: datetime) -> None:
    """Forget the messages that were taken before then."""
    db.execute("DELETE FROM heard WHERE time < ?", (micros(before),))


def gather(db: apsw.Connection, message: Message, line: str, *, wakes: bool, now: datetime) -> None:
    """Put a message into what has gathered of its chat."""
    db.execute(
        "INSERT INTO gathered (chat, message, chat_name, line, wakes, written, came)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (message.chat, message.id, message.chat_name, line, wakes, micros(message.time), micros(now)),
    )


def is_one(db: apsw.Connection, old: ChatId, new: ChatId) -> bool:
    """Whether `old` is known as the other id of the chat `new`, and nothing is kept by it."""
    return other_id(db, new) == old and not any(
        db.execute(f"SELECT 1 FROM {table} WHERE chat = ? LIMIT 1", (old,)).get
        for table in ("heard", "gathered")
    )


def other_id(db: apsw.Connection, chat: ChatId) -> ChatId | None:
    """The id that `chat` has besides; None where none is known."""
    row = db.execute("SELECT other FROM other_ids WHERE chat = ?", (chat,)).fetchone()
    return None if row is None else ChatId(row[0])


def known_as(db: apsw.Connection, chat: ChatId) -> ChatId:
    """The chat that `chat` is another id of; `chat` itself where it is of none."""
    row = db.execute("SELECT chat FROM other_ids WHERE other = ?", (chat,)).fetchone()
    return chat if row is None else ChatId(row[0])


def unite(db: apsw.Connection, old: ChatId, new: ChatId) -> None:
    """The chat `old` is the chat `new`, and so is what is known and gathered of it.

    Either id is of no third chat from now on: a number may come to somebody else, and somebody to another.
    """
    db.execute("DELETE FROM other_ids WHERE chat = ? OR other = ?", (new, old))
    db.execute("INSERT INTO other_ids (chat, other) VALUES (?, ?)", (new, old))
    db.execute("UPDATE OR IGNORE heard SET chat = ? WHERE chat = ?", (new, old))
    db.execute("DELETE FROM heard WHERE chat = ?", (old,))
    db.execute("UPDATE gathered SET chat = ? WHERE chat = ?", (new, old))


def open_batch(db: apsw.Connection, chat: ChatId) -> OpenBatch | None:
    """The open batch of `chat`, outside of a catch-up."""
    return open_batches(db, chat).get(chat)


def open_batches(db: apsw.Connection, chat: ChatId | None = None) -> dict[ChatId, OpenBatch]:
    """The open batches, outside of a catch-up; only that of `chat` if it is named."""
    rows: list[Any] = db.execute(
        "SELECT chat, count(*), sum(octet_length(line)), min(came), max(came) FROM gathered"
        f" {'' if chat is None else 'WHERE chat = ?'} GROUP BY chat ORDER BY min(number)",
        () if chat is None else (chat,),
    ).fetchall()
    return {
        ChatId(of): OpenBatch(
            messages=int(messages), size=int(size), began=instant(began), latest=instant(latest)
        )
        for of, messages, size, began, latest in rows
    }


def take_gathered(db: apsw.Connection, chat: ChatId) -> list[Gathered]:
    """Take all that has gathered of `chat` out of the store, in the order in which it came."""
    rows: list[Any] = db.execute(
        "SELECT number, message, chat_name, line, wakes, written FROM gathered WHERE chat = ?"
        " ORDER BY number",
        (chat,),
    ).fetchall()
    db.execute("DELETE FROM gathered WHERE chat = ?", (chat,))
    return [
        Gathered(
            number=int(number),
            chat=chat,
            message=MessageId(message),
            chat_name=name,
            line=line,
            wakes=bool(wakes),
            written=instant(written),
        )
        for number, message, name, line, wakes, written in rows
    ]


def gathered_chats(db: apsw.Connection) -> list[ChatId]:
    """The chats of which something has gathered, the longest waiting first."""
    rows: list[Any] = db.execute("SELECT chat FROM gathered GROUP BY chat ORDER BY min(number)").fetchall()
    return [ChatId(chat) for (chat,) in rows]


def add_parcel(db: apsw.Connection, parcel: ParcelKey, batches: Iterable[Batch]) -> None:
    """Keep closed batches, to be handed over in one call; one whose key is known already stays as it was."""
    db.executemany(
        "INSERT INTO batches (key, chat, other, text, wakes, written, parcel, catch_up)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, '') ON CONFLICT DO NOTHING",
        [
            (one.key, one.chat, one.other or "", one.text, one.wakes, micros(one.written), parcel)
            for one in batches
        ],
    )


def group(db: apsw.Connection, catch_up: CatchUpId, parcels: Sequence[ParcelKey]) -> None:
    """Make the batches of `parcels` one group; those of a group that has begun stay in it, to complete it."""
    db.executemany(
        "UPDATE batches SET catch_up = ? WHERE parcel = ? AND catch_up NOT IN"
        " (SELECT id FROM catch_ups WHERE begun)",
        [(catch_up, parcel) for parcel in parcels],
    )
    db.execute(
        "INSERT INTO catch_ups (id, count, begun)"
        " SELECT ?1, count(*), FALSE FROM batches WHERE catch_up = ?1",
        (catch_up,),
    )
    _forget_empty_groups(db)


def has_begun(db: apsw.Connection, catch_up: CatchUpId) -> bool:
    """Whether the agent service may have something of the group."""
    return bool(db.execute("SELECT begun FROM catch_ups WHERE id = ?", (catch_up,)).get)


def begin(db: apsw.Connection, catch_up: CatchUpId) -> None:
    """The agent service may have something of the group from now on."""
    db.execute("UPDATE catch_ups SET begun = TRUE WHERE id = ?", (catch_up,))


def parcel(db: apsw.Connection, key: ParcelKey) -> tuple[list[Batch], Group | None]:
    """What the agent service does not have yet of a parcel, and the group that it is of."""
    rows: list[Any] = db.execute(
        "SELECT key, chat, other, text, wakes, written, catch_up, count FROM batches"
        " LEFT JOIN catch_ups ON catch_ups.id = catch_up WHERE parcel = ? ORDER BY number",
        (key,),
    ).fetchall()
    batches = [
        Batch(
            key=BatchKey(batch),
            chat=ChatId(chat),
            other=ChatId(other) if other else None,
            text=text,
            wakes=bool(wakes),
            written=instant(written),
        )
        for batch, chat, other, text, wakes, written, _, _ in rows
    ]
    catch_up, count = rows[0][-2:] if rows else ("", 0)
    return batches, Group(id=CatchUpId(catch_up), count=int(count)) if catch_up else None


def handed_over(db: apsw.Connection, batch: BatchKey) -> None:
    """Forget a batch: the agent service has it."""
    db.execute("DELETE FROM batches WHERE key = ?", (batch,))
    _forget_empty_groups(db)


def handed_over_before(db: apsw.Connection, batch: BatchKey) -> None:
    """The same for one that the agent service had already by itself: its group is smaller by that."""
    db.execute(
        "UPDATE catch_ups SET count = count - 1 WHERE id = (SELECT catch_up FROM batches WHERE key = ?)",
        (batch,),
    )
    handed_over(db, batch)


def parcel_handed_over(db: apsw.Connection, key: ParcelKey) -> None:
    """Forget all batches of a parcel."""
    db.execute("DELETE FROM batches WHERE parcel = ?", (key,))
    _forget_empty_groups(db)


def waiting(db: apsw.Connection) -> int:
    """How many batches the agent service does not have, those that are not closed too."""
    return int(
        db.execute("SELECT (SELECT count(*) FROM batches) + (SELECT count(DISTINCT chat) FROM gathered)").get
    )


def _forget_empty_groups(db: apsw.Connection) -> None:
    db.execute(
        "DELETE FROM catch_ups WHERE NOT EXISTS (SELECT 1 FROM batches WHERE batches.catch_up = catch_ups.id)"
    )
