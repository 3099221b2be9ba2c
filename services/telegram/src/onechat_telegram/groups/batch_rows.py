"""The store's rows on open batches. Functions on a connection, for transactions. Instants are aware, UTC."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import apsw
from onechat_runtime.clock import instant, micros

from onechat_telegram.groups.domain.batches import Batch
from onechat_telegram.groups.domain.ids import ChatId, MessageKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """What was in a batch."""

    lines: tuple[str, ...]  #: oldest first
    images: tuple[str, ...]
    written: datetime  #: when the last one was written


def add(
    db: apsw.Connection,
    chat: ChatId,
    key: MessageKey,
    line: str,
    images: tuple[str, ...],
    *,
    written: datetime,
    came: datetime,
) -> None:
    """Put a message into the batch of `chat`."""
    db.execute(
        "INSERT INTO group_batched (key, chat, line, images, written, came) VALUES (?, ?, ?, ?, ?, ?)",
        (key, chat, line, json.dumps(images), micros(written), micros(came)),
    )


def batch(db: apsw.Connection, chat: ChatId) -> Batch | None:
    """The open batch of `chat`."""
    return next((one for one in batches(db) if one.chat == chat), None)


def batches(db: apsw.Connection) -> list[Batch]:
    """All open batches."""
    found: list[Any] = db.execute(
        "SELECT chat, (SELECT key FROM group_batched AS f WHERE f.chat = b.chat ORDER BY number LIMIT 1),"
        " count(*), sum(json_array_length(images)), sum(octet_length(line)), min(came), max(came)"
        " FROM group_batched AS b GROUP BY chat ORDER BY chat"
    ).fetchall()
    return [
        Batch(
            chat=ChatId(chat),
            first=MessageKey(first),
            messages=int(messages),
            images=int(images),
            size=int(size),
            began=instant(int(began)),
            latest=instant(int(latest)),
        )
        for chat, first, messages, images, size, began, latest in found
    ]


def close(db: apsw.Connection, chat: ChatId) -> Closed:
    """Take the batch of `chat`, which has one, out of the store."""
    found: list[Any] = db.execute(
        "SELECT line, images, written FROM group_batched WHERE chat = ? ORDER BY number", (chat,)
    ).fetchall()
    drop(db, chat)
    return Closed(
        lines=tuple(str(line) for line, _, _ in found),
        images=tuple(image for _, images, _ in found for image in json.loads(images)),
        written=instant(int(found[-1][2])),
    )


def drop(db: apsw.Connection, chat: ChatId) -> None:
    """Forget the batch of `chat`."""
    db.execute("DELETE FROM group_batched WHERE chat = ?", (chat,))
