"""The tables of logs and messages (migrations 0001, 0008 and 0009), on one connection within one transaction.

Rows become the nouns of domain/messages.py here, and nowhere else. Nodes, queues and views: tree_store.py.
Who may write, and in which order: chat_log.py.
"""

import json
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

import apsw
from onechat_runtime.clock import instant, micros

from onechat_memory.adapters.row_ids import row_id
from onechat_memory.domain.leases import Edition, LogId
from onechat_memory.domain.messages import (
    FIRST_GENERATION,
    Kind,
    Log,
    Message,
    NewLog,
    NewMessage,
    Shape,
    State,
)
from onechat_memory.domain.placing import Known, Placed
from onechat_memory.domain.tree import MessageId
from onechat_memory.domain.view import Limits

_LOG: Final = (
    "SELECT number, id, label, shape, state, chat_high, chat_low, compaction_high, compaction_low,"
    " generation, create_time, length, revision, chat_owed, compaction_owed, batches, built_nodes,"
    " built_leaves, degraded_nodes, indexed, chat_bytes, compaction_bytes, chat_lines, compaction_lines"
    " FROM logs "
)
_MESSAGE: Final = (
    "SELECT id, kind, text, time, zone, key, source, turn, step, call, images, part, parts FROM messages "
)
_ADD_MESSAGE: Final = (
    "INSERT INTO messages (row_id, kind, text, time, zone, key, body_hash, source, turn, step, call, images,"
    " part, parts, line_time) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_NO_IMAGES: Final = "[]"


@dataclass(slots=True, kw_only=True)
class LogRow:
    """A log's row: what it is, and the counters that each change keeps in step."""

    number: int  #: what other tables name it by
    asked: NewLog
    generation: int
    create_time: datetime
    length: int
    revision: int  #: raised by every change
    chat_owed: bool
    compaction_owed: bool
    batches: int
    built_nodes: int
    built_leaves: int
    degraded_nodes: int
    indexed: int  #: messages whose words the search index holds; search.py alone moves it
    chat_bytes: int  #: of the chat's view, all its lines
    compaction_bytes: int
    chat_lines: int  #: of the chat's view
    compaction_lines: int

    @property
    def edition(self) -> Edition:
        """What pieces of it are leased under."""
        return Edition(self.number, self.generation)

    @property
    def log(self) -> Log:
        """What the row says to the outside."""
        return Log(
            asked=self.asked, generation=self.generation, length=self.length, create_time=self.create_time
        )

    @property
    def unbuilt_leaves(self) -> int:
        """Messages of a tree that have no line yet; 0 for a flat log."""
        return self.length - self.built_leaves if self.asked.shape is Shape.TREE else 0


class LogStore:
    """Logs and messages as one connection sees them."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def create(self, asked: NewLog, now: datetime) -> None:
        """Write a new log's row; its id must be new."""
        self._db.execute(
            "INSERT INTO logs (id, label, shape, state, chat_high, chat_low, compaction_high, compaction_low,"
            " generation, create_time) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                asked.id,
                asked.label,
                asked.shape.value,
                asked.state.value,
                asked.chat.high,
                asked.chat.low,
                asked.compaction.high,
                asked.compaction.low,
                FIRST_GENERATION,
                micros(now),
            ),
        )

    def log(self, log: LogId) -> LogRow | None:
        """The row of `log`; None for a deleted one, as in all that follows."""
        row = self._db.execute(_LOG + "WHERE id = ? AND deleted = 0", (log,)).fetchone()
        return None if row is None else _log_row(row)

    def log_by_number(self, number: int) -> LogRow | None:
        """The row of the log that other tables call `number`."""
        row = self._db.execute(_LOG + "WHERE number = ? AND deleted = 0", (number,)).fetchone()
        return None if row is None else _log_row(row)

    def logs_after(self, log: str, most: int) -> list[LogRow]:
        """Up to `most` logs whose ids follow `log`, by id."""
        rows = self._db.execute(_LOG + "WHERE id > ? AND deleted = 0 ORDER BY id LIMIT ?", (log, most))
        return [_log_row(row) for row in rows]

    def trees(self) -> list[LogRow]:
        """The logs that have views and are not set aside."""
        rows = self._db.execute(_LOG + "WHERE shape = 'tree' AND state <> 'kept' AND deleted = 0")
        return [_log_row(row) for row in rows]

    def save(self, row: LogRow) -> None:
        """Write what a change moved in `row`, and raise its revision."""
        row.revision += 1
        self._db.execute(
            "UPDATE logs SET length = ?, revision = ?, chat_owed = ?, compaction_owed = ?, batches = ?,"
            " built_nodes = ?, built_leaves = ?, degraded_nodes = ?, chat_bytes = ?, compaction_bytes = ?,"
            " chat_lines = ?, compaction_lines = ? WHERE number = ?",
            (
                row.length,
                row.revision,
                row.chat_owed,
                row.compaction_owed,
                row.batches,
                row.built_nodes,
                row.built_leaves,
                row.degraded_nodes,
                row.chat_bytes,
                row.compaction_bytes,
                row.chat_lines,
                row.compaction_lines,
                row.number,
            ),
        )

    def known(self, number: int, keys: Iterable[str]) -> dict[str, Known]:
        """What those of `keys` stand for that a message has."""
        rows = self._db.executemany(
            "SELECT key, id, parts, body_hash FROM messages WHERE log = ? AND key = ? AND part = 1",
            [(number, key) for key in keys],
        )
        return {key: Known(MessageId(first), parts, hashed) for key, first, parts, hashed in rows}

    def add(self, number: int, placed: Iterable[Placed], lines: Container[int], now: datetime) -> None:
        """Write new messages, a row for each piece; those of `lines`, by id, became their own at `now`."""
        built = micros(now)
        self._db.executemany(
            _ADD_MESSAGE, [row for one in placed for row in _rows(number, one, lines, built)]
        )

    def message(self, number: int, message: int) -> Message | None:
        """One message by its id."""
        return next(self.messages(number, message, message + 1), None)

    def messages(self, number: int, start: int, end: int) -> Iterator[Message]:
        """Messages from `start` up to and without `end`, oldest first, read as they are asked for."""
        rows = self._db.execute(
            _MESSAGE + "WHERE row_id >= ? AND row_id < ? ORDER BY row_id",
            (row_id(number, start), row_id(number, end)),
        )
        return map(_message, rows)

    def kind_and_text(self, number: int, message: int) -> tuple[str, str]:
        """What a leaf's source is made from; the message must be there."""
        row = self._db.execute(
            "SELECT kind, text FROM messages WHERE row_id = ?", (row_id(number, message),)
        ).fetchone()
        if row is None:
            raise AssertionError(f"message {message} is counted and not there")
        return row[0], row[1]


@lru_cache(maxsize=1024)
def _asked(*columns: Any) -> NewLog:
    """What a log was made as, which each change of it reads again."""
    log, label, shape, state, chat_high, chat_low, compaction_high, compaction_low = columns
    return NewLog(
        id=LogId(log),
        label=label,
        shape=Shape(shape),
        state=State(state),
        chat=Limits(high=chat_high, low=chat_low),
        compaction=Limits(high=compaction_high, low=compaction_low),
    )


def _log_row(row: Any) -> LogRow:
    return LogRow(
        number=row[0],
        asked=_asked(*row[1:9]),
        generation=row[9],
        create_time=instant(row[10]),
        length=row[11],
        revision=row[12],
        chat_owed=bool(row[13]),
        compaction_owed=bool(row[14]),
        batches=row[15],
        built_nodes=row[16],
        built_leaves=row[17],
        degraded_nodes=row[18],
        indexed=row[19],
        chat_bytes=row[20],
        compaction_bytes=row[21],
        chat_lines=row[22],
        compaction_lines=row[23],
    )


def _rows(number: int, placed: Placed, lines: Container[int], built: int) -> Iterator[tuple[Any, ...]]:
    body, parts = placed.hashed.message, len(placed.texts)
    time = micros(body.time)
    for part, text in enumerate(placed.texts, start=1):
        message = placed.first + part - 1
        yield (
            row_id(number, message),
            body.kind,
            text,
            time,
            body.zone,
            body.key,
            placed.hashed.body_hash,
            body.source,
            body.turn,
            body.step,
            body.call,
            json.dumps(body.images) if body.images and part == 1 else _NO_IMAGES,
            part,
            parts,
            built if message in lines else None,
        )


def _message(row: Any) -> Message:
    body = NewMessage(
        kind=Kind(row[1]),
        text=row[2],
        time=instant(row[3]),
        zone=row[4],
        key=row[5],
        source=row[6],
        turn=row[7],
        step=row[8],
        call=row[9],
        images=tuple(json.loads(row[10])),
    )
    return Message(id=MessageId(row[0]), body=body, part=row[11], parts=row[12])
