"""The store's rows on pieces of replies and the place in the agent's events. Functions on a connection.

Who writes to the bot: chat_store.py. Instants are aware, UTC.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, Final

import apsw
from onechat_runtime.clock import micros

from onechat_telegram.domain.entities import Entity
from onechat_telegram.domain.ids import ChatId, MessageId
from onechat_telegram.domain.outgoing import EventPlace, Outgoing, PieceState
from onechat_telegram.domain.pieces import Piece

KEPT: Final = timedelta(days=90)  # as long as the agent keeps its events
_TO_SEND: Final = "state IN ('waiting', 'sending')"


def place(db: apsw.Connection) -> EventPlace | None:
    """Up to where events have been taken; None before the first subscription."""
    rows: list[Any] = db.execute("SELECT stream, taken FROM place").fetchall()
    return EventPlace(stream=rows[0][0], number=rows[0][1]) if rows else None


def set_place(db: apsw.Connection, place: EventPlace) -> None:
    """Events up to `place` are taken."""
    db.execute(
        "INSERT INTO place (only, stream, taken, sent_event, sent_piece) VALUES (1, ?, ?, 0, 0)"
        " ON CONFLICT (only) DO UPDATE SET stream = excluded.stream, taken = excluded.taken",
        (place.stream, place.number),
    )


def add_event(
    db: apsw.Connection, place: EventPlace, chat: ChatId, pieces: Sequence[Piece], now: datetime
) -> None:
    """Take the event at `place` with the pieces it makes; one that was taken before changes nothing."""
    _add(db, f"event:{place.stream}:{place.number}", place.number, chat, pieces, now)
    set_place(db, place)


def add_answer(
    db: apsw.Connection, update: str, chat: ChatId, pieces: Sequence[Piece], now: datetime
) -> None:
    """Add what answers the update of key `update`."""
    _add(db, f"update:{update}", 0, chat, pieces, now)


def begin_anew(
    db: apsw.Connection, origin: str, chat: ChatId, pieces: Sequence[Piece], now: datetime
) -> None:
    """Forget the place, which is of a store that is gone, and add `pieces` that say so."""
    _add(db, origin, 0, chat, pieces, now)
    db.execute("DELETE FROM place")


def _add(
    db: apsw.Connection, origin: str, event: int, chat: ChatId, pieces: Sequence[Piece], now: datetime
) -> None:
    for index, piece in enumerate(pieces):
        entities = json.dumps([asdict(entity) for entity in piece.entities])
        db.execute(
            "INSERT INTO pieces"
            " (origin, event, piece, chat, text, entities, plain, state, repeats, time, trace)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, 'waiting', 0, ?, '') ON CONFLICT DO NOTHING",
            (origin, event, index, chat, piece.text, entities, piece.plain, micros(now)),
        )


def next_piece(db: apsw.Connection) -> Outgoing | None:
    """The oldest piece that is to be sent."""
    rows: list[Any] = db.execute(
        f"SELECT number, chat, text, entities, plain, repeats FROM pieces WHERE {_TO_SEND}"
        " ORDER BY number LIMIT 1"
    ).fetchall()
    for number, chat, text, entities, plain, repeats in rows:
        return Outgoing(
            number=number,
            chat=ChatId(chat),
            text=text,
            entities=tuple(Entity(**entity) for entity in json.loads(entities)),
            plain=plain,
            repeats=repeats,
        )
    return None


def set_state(
    db: apsw.Connection, piece: Outgoing, state: PieceState, now: datetime, trace: str = ""
) -> None:
    """Note how far `piece` is, with how often it was repeated."""
    db.execute(
        "UPDATE pieces SET state = ?, repeats = ?, time = ?, trace = ? WHERE number = ?",
        (state, piece.repeats, micros(now), trace, piece.number),
    )


def set_sent(db: apsw.Connection, piece: Outgoing, message: MessageId, now: datetime) -> None:
    """`piece` is in the chat as `message`; its text is forgotten, the place in the events moves on."""
    db.execute(
        "UPDATE pieces SET state = 'sent', message = ?, time = ?, text = '', entities = '[]', plain = ''"
        " WHERE number = ?",
        (message, micros(now), piece.number),
    )
    db.execute(
        "UPDATE place SET (sent_event, sent_piece) = (SELECT event, piece FROM pieces WHERE number = ?1)"
        " WHERE EXISTS (SELECT 1 FROM pieces WHERE number = ?1 AND event > 0)",
        (piece.number,),
    )


def make_plain(db: apsw.Connection, piece: Outgoing) -> None:
    """Send the text that `piece` came from instead of its formatting."""
    db.execute(
        "UPDATE pieces SET text = plain, entities = '[]', state = 'waiting' WHERE number = ?", (piece.number,)
    )


def found_sending(db: apsw.Connection) -> list[int]:
    """The numbers of pieces that were being sent when the last process ended."""
    rows: list[Any] = db.execute("SELECT number FROM pieces WHERE state = 'sending'").fetchall()
    return [int(row[0]) for row in rows]


def repeat(db: apsw.Connection, number: int, repeats_max: int, now: datetime) -> None:
    """Send a piece of unknown outcome once more, marked; past `repeats_max` leave it unknown."""
    db.execute(
        "UPDATE pieces SET state = iif(repeats < ?1, 'waiting', 'unknown'), repeats = repeats + 1, time = ?2"
        " WHERE number = ?3",
        (repeats_max, micros(now), number),
    )


def drop_all_but(db: apsw.Connection, newest: int, now: datetime) -> int:
    """Give up waiting pieces but the `newest` ones; how many that were."""
    db.execute(
        "UPDATE pieces SET state = 'aside', trace = 'the chat is closed', time = ? WHERE state = 'waiting'"
        " AND number NOT IN"
        " (SELECT number FROM pieces WHERE state = 'waiting' ORDER BY number DESC LIMIT ?)",
        (micros(now), newest),
    )
    return db.changes()


def forget_old(db: apsw.Connection, now: datetime) -> None:
    """Delete what was done with long ago."""
    db.execute(f"DELETE FROM pieces WHERE time < ? AND NOT {_TO_SEND}", (micros(now - KEPT),))


def waiting(db: apsw.Connection) -> int:
    """How many pieces are to be sent."""
    return int(db.execute(f"SELECT count(*) FROM pieces WHERE {_TO_SEND}").get)


def given_up(db: apsw.Connection, since: datetime) -> int:
    """How many pieces were given up since `since`."""
    sql = "SELECT count(*) FROM pieces WHERE state IN ('aside', 'unknown') AND time >= ?"
    return int(db.execute(sql, (micros(since),)).get)
