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

from onechat_telegram.domain.callbacks import Question
from onechat_telegram.domain.entities import Entity
from onechat_telegram.domain.ids import BotId, ChatId, MessageId
from onechat_telegram.domain.outgoing import EventPlace, Outgoing, PieceState
from onechat_telegram.domain.pieces import Piece, PieceKind

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
    db: apsw.Connection,
    place: EventPlace,
    chat: ChatId,
    pieces: Sequence[Piece],
    now: datetime,
    *,
    answers: MessageId | None = None,
    topic: int | None = None,
) -> None:
    """Take the event at `place` with the pieces it makes; one that was taken before changes nothing.

    They reply to `answers` and stand in the thread `topic`.
    """
    _add(db, f"event:{place.stream}:{place.number}", place.number, chat, pieces, now, answers, topic)
    set_place(db, place)


def add_answer(
    db: apsw.Connection,
    update: str,
    chat: ChatId,
    pieces: Sequence[Piece],
    now: datetime,
    *,
    answers: MessageId | None = None,
    topic: int | None = None,
) -> None:
    """Add what answers the update of key `update`, once; see `add_event`."""
    _add(db, f"update:{update}", 0, chat, pieces, now, answers, topic)


def begin_anew(
    db: apsw.Connection, origin: str, chat: ChatId, pieces: Sequence[Piece], now: datetime
) -> None:
    """Forget the place, which is of a store that is gone, and add `pieces` that say so."""
    _add(db, origin, 0, chat, pieces, now)
    db.execute("DELETE FROM place")


def _add(
    db: apsw.Connection,
    origin: str,
    event: int,
    chat: ChatId,
    pieces: Sequence[Piece],
    now: datetime,
    answers: MessageId | None = None,
    topic: int | None = None,
) -> None:
    if db.execute("SELECT 1 FROM pieces WHERE origin = ? LIMIT 1", (origin,)).get is not None:
        return  # a repeat, which may be worded otherwise, and longer
    for index, piece in enumerate(pieces):
        db.execute(
            "INSERT INTO pieces"
            " (origin, event, piece, chat, text, entities, plain, kind, image, stream, proposal,"
            " answers, topic, state, repeats, time, trace)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', 0, ?, '')",
            (
                *(origin, event, index, chat, piece.text, _json(piece.entities), piece.plain),
                *(piece.kind, piece.image, piece.stream, piece.proposal),
                *(answers or 0, topic or 0, micros(now)),
            ),
        )


def chats_to_send_to(db: apsw.Connection) -> list[ChatId]:
    """The chats that pieces are to be sent to."""
    rows: list[Any] = db.execute(f"SELECT DISTINCT chat FROM pieces WHERE {_TO_SEND}").fetchall()
    return [ChatId(row[0]) for row in rows]


def next_piece(db: apsw.Connection, chat: ChatId) -> Outgoing | None:
    """The oldest piece that is to be sent to `chat`."""
    rows: list[Any] = db.execute(
        "SELECT number, chat, text, entities, plain, repeats, kind, image, stream, proposal, answers, topic"
        f" FROM pieces WHERE {_TO_SEND} AND chat = ? ORDER BY number LIMIT 1",
        (chat,),
    ).fetchall()
    for number, chat, text, entities, plain, repeats, kind, image, stream, proposal, answers, topic in rows:
        return Outgoing(
            number=number,
            chat=ChatId(chat),
            text=text,
            entities=tuple(Entity(**entity) for entity in json.loads(entities)),
            plain=plain,
            repeats=repeats,
            kind=PieceKind(kind),
            image=image,
            question=Question(stream=stream, number=proposal) if proposal else None,
            answers=MessageId(answers) if answers else None,
            topic=topic or None,
        )
    return None


def message_of_question(
    db: apsw.Connection, question: Question, bot: BotId, chat: ChatId
) -> MessageId | None:
    """The message of `bot` in `chat` with the buttons of `question`; None where there is none."""
    sql = (
        "SELECT message FROM pieces WHERE stream = ? AND proposal = ? AND kind = 'question'"
        " AND state = 'sent' AND bot = ? AND chat = ? ORDER BY number DESC LIMIT 1"
    )
    found = db.execute(sql, (question.stream, question.number, bot, chat)).get
    return None if found is None else MessageId(int(found))


def set_state(
    db: apsw.Connection, piece: Outgoing, state: PieceState, now: datetime, trace: str = ""
) -> None:
    """Note how far `piece` is, with how often it was repeated."""
    db.execute(
        "UPDATE pieces SET state = ?, repeats = ?, time = ?, trace = ? WHERE number = ?",
        (state, piece.repeats, micros(now), trace, piece.number),
    )


def set_sent(db: apsw.Connection, piece: Outgoing, bot: BotId, message: MessageId, now: datetime) -> None:
    """`piece` is in the chat as `message` of `bot`; its text is forgotten, the events' place moves on."""
    db.execute(
        "UPDATE pieces SET state = 'sent', bot = ?, message = ?, time = ?, text = '', entities = '[]',"
        " plain = '' WHERE number = ?",
        (bot, message, micros(now), piece.number),
    )
    db.execute(
        "UPDATE place SET (sent_event, sent_piece) = (SELECT event, piece FROM pieces WHERE number = ?1)"
        " WHERE EXISTS (SELECT 1 FROM pieces WHERE number = ?1 AND event > 0)",
        (piece.number,),
    )


def send_instead(db: apsw.Connection, piece: Outgoing) -> None:
    """Send `piece` as it is now, in place of what its row held."""
    db.execute(
        "UPDATE pieces SET text = ?, entities = ?, plain = ?, kind = ?, image = ?, answers = ?, topic = ?,"
        " state = 'waiting' WHERE number = ?",
        (
            *(piece.text, _json(piece.entities), piece.plain, piece.kind, piece.image),
            *(piece.answers or 0, piece.topic or 0, piece.number),
        ),
    )


def move_chat(db: apsw.Connection, old: ChatId, new: ChatId) -> None:
    """What is to be sent to `old` goes to `new`, which has other message ids and no topics yet."""
    db.execute(
        "UPDATE pieces SET chat = ?2, answers = 0, topic = 0,"
        " state = iif(state = 'sending', 'waiting', state)"
        f" WHERE chat = ?1 AND {_TO_SEND}",
        (old, new),
    )


def found_sending(db: apsw.Connection) -> list[int]:
    """The numbers of pieces that were being sent when the last process ended."""
    rows: list[Any] = db.execute("SELECT number FROM pieces WHERE state = 'sending'").fetchall()
    return [int(row[0]) for row in rows]


def repeat(db: apsw.Connection, number: int, repeats_max: int, now: datetime) -> None:
    """Send a piece of unknown outcome once more, marked; in a group, or past `repeats_max`, leave it so."""
    db.execute(
        "UPDATE pieces SET state = iif(chat > 0 AND repeats < ?1, 'waiting', 'unknown'),"
        " repeats = repeats + 1, time = ?2 WHERE number = ?3",
        (repeats_max, micros(now), number),
    )


def drop_all_but(db: apsw.Connection, chat: ChatId, newest: int, now: datetime) -> int:
    """Give up what waits for `chat` but the `newest` pieces; how many that were."""
    db.execute(
        "UPDATE pieces SET state = 'aside', trace = 'the chat is closed', time = ?1"
        " WHERE state = 'waiting' AND chat = ?2 AND number NOT IN (SELECT number FROM pieces"
        " WHERE state = 'waiting' AND chat = ?2 ORDER BY number DESC LIMIT ?3)",
        (micros(now), chat, newest),
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


def _json(entities: Sequence[Entity]) -> str:
    return json.dumps([asdict(entity) for entity in entities])
