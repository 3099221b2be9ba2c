"""The kept events' rows, and their bodies as JSON; every function works inside the caller's transaction.

What an event is: domain/events.py. Who gets them: events.py.
"""

import dataclasses
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import apsw
from onechat_runtime.clock import instant, micros

from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import DeliveryId, ReplyTo, TurnId
from onechat_agent.domain.events import (
    Answered,
    Body,
    Event,
    NewEvent,
    Noticed,
    OutsideCame,
    PictureShown,
    ProposalChanged,
    Replied,
    ToolActive,
    TurnChanged,
    TurnPhase,
    UserSaid,
)
from onechat_agent.domain.proposal import ProposalState

# The stored word for each body; never change one that was written.
_FORMS: Mapping[str, type[Body]] = {
    "user_said": UserSaid,
    "outside_came": OutsideCame,
    "turn_changed": TurnChanged,
    "replied": Replied,
    "picture_shown": PictureShown,
    "tool_active": ToolActive,
    "noticed": Noticed,
    "proposal_changed": ProposalChanged,
}
_WORDS = {body: word for word, body in _FORMS.items()}


def add(db: apsw.Connection, event: NewEvent) -> int:
    """Keeps `event`, with the generation of its agent's log as it was last read, and gives its number."""
    db.execute(
        "INSERT INTO events (agent_id, agent_name, audience, turn, time, generation, form, body)"
        " VALUES (?1, ?2, ?3, ?4, ?5,"
        " coalesce((SELECT generation FROM agents WHERE agent_id = ?1), 0), ?6, ?7)",
        (
            event.agent,
            event.agent_name,
            event.audience,
            event.turn,
            micros(event.time),
            _WORDS[type(event.body)],
            json.dumps(dataclasses.asdict(event.body), default=micros),
        ),
    )
    return db.last_insert_rowid()


def between(db: apsw.Connection, after: int, up_to: int, *, audience: str) -> list[Event]:
    """Kept events with numbers above `after` and at most `up_to`, in order; audience "*" is everybody's."""
    rows = db.execute(
        "SELECT number, agent_id, agent_name, audience, turn, time, generation, form, body FROM events"
        " WHERE number > ?1 AND number <= ?2 AND (?3 = '*' OR audience = ?3) ORDER BY number",
        (after, up_to, audience),
    )
    return [
        Event(
            number=row[0],
            agent=AgentId(row[1]),
            agent_name=row[2],
            audience=row[3],
            turn=None if row[4] is None else TurnId(row[4]),
            time=instant(row[5]),
            generation=row[6],
            body=_body(row[7], json.loads(row[8])),
        )
        for row in rows
    ]


def bounds(db: apsw.Connection) -> tuple[int, int]:
    """(the number before the oldest kept event, the newest number ever given); (0, 0) at first."""
    newest = int(db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'events'").get or 0)
    oldest = db.execute("SELECT min(number) FROM events").get
    return (newest if oldest is None else int(oldest) - 1), newest


def start_of_last(db: apsw.Connection, count: int, *, audience: str) -> int:
    """The number after which the newest `count` kept events of `audience` lie."""
    first = db.execute(
        "SELECT min(number) FROM (SELECT number FROM events WHERE ?1 = '*' OR audience = ?1"
        " ORDER BY number DESC LIMIT ?2)",
        (audience, count),
    ).get
    return bounds(db)[1] if first is None else int(first) - 1


def forget_before(db: apsw.Connection, oldest: datetime) -> None:
    """Drops events older than `oldest`."""
    db.execute("DELETE FROM events WHERE time < ?", (micros(oldest),))


def _body(word: str, said: dict[str, Any]) -> Body:
    if "answered" in said:
        said["answered"] = tuple(
            Answered(delivery=DeliveryId(a["delivery"]), key=a["key"], reply_to=ReplyTo(**a["reply_to"]))
            for a in said["answered"]
        )
    if "images" in said:
        said["images"] = tuple(said["images"])
    if "expire_time" in said:
        said |= {"expire_time": instant(said["expire_time"]), "state": ProposalState(said["state"])}
    if "phase" in said:
        said["phase"] = TurnPhase(said["phase"])
    return _FORMS[word](**said)
