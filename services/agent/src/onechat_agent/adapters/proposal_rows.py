"""The proposals' rows; every function works inside the caller's transaction.

What a proposal is: domain/proposal.py. What happens to it: proposals.py.
"""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import apsw
from onechat_runtime.clock import instant, micros

from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import TurnId
from onechat_agent.domain.proposal import OPEN_FOR, Held, Proposal, ProposalNumber, ProposalState

_SELECT = (
    "SELECT number, agent_id, coalesce(name, ''), turn, call_key, tool, arguments, workdir, target, text,"
    " proposals.state, outcome, proposals.create_time, expire_time, beside"
    " FROM proposals LEFT JOIN agents USING (agent_id) "
)


def add(
    db: apsw.Connection, held: Held, now: datetime, text: Callable[[ProposalNumber], str]
) -> ProposalNumber:
    """Stores an open proposal, whose `text` may name its number."""
    db.execute(
        "INSERT INTO proposals (agent_id, turn, call_key, tool, arguments, workdir, target, beside, text,"
        " state, create_time, expire_time) VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', 'open', ?, ?)",
        (
            held.agent,
            held.turn,
            held.call_key,
            held.tool,
            held.arguments,
            held.workdir,
            held.target,
            json.dumps(dict(held.beside), ensure_ascii=False),
            micros(now),
            micros(now + OPEN_FOR),
        ),
    )
    number = ProposalNumber(db.last_insert_rowid())
    db.execute("UPDATE proposals SET text = ? WHERE number = ?", (text(number), number))
    return number


def by_number(db: apsw.Connection, number: int) -> Proposal | None:
    """The proposal of that number; None when there is none."""
    row = db.execute(_SELECT + "WHERE number = ?", (number,)).fetchone()
    return None if row is None else _proposal(row)


def of_call(db: apsw.Connection, call_key: str) -> ProposalNumber | None:
    """What the call of this key has proposed."""
    number = db.execute("SELECT number FROM proposals WHERE call_key = ?", (call_key,)).get
    return None if number is None else ProposalNumber(number)


def open_alike(db: apsw.Connection, held: Held) -> ProposalNumber | None:
    """The open proposal of the same turn that would do the very same."""
    number = db.execute(
        "SELECT number FROM proposals WHERE turn = ? AND tool = ? AND arguments = ? AND target = ?"
        " AND state = 'open' ORDER BY number LIMIT 1",
        (held.turn, held.tool, held.arguments, held.target),
    ).get
    return None if number is None else ProposalNumber(number)


def set_state(db: apsw.Connection, number: ProposalNumber, state: ProposalState, outcome: str = "") -> None:
    """How far it is from now on."""
    db.execute("UPDATE proposals SET state = ?, outcome = ? WHERE number = ?", (state, outcome, number))


def of_state(db: apsw.Connection, state: ProposalState) -> list[Proposal]:
    """All in this state, oldest first: open or approved ones, of which there are few."""
    rows = db.execute(_SELECT + "WHERE proposals.state = ? ORDER BY number", (state,))
    return [_proposal(row) for row in rows]


def due(db: apsw.Connection, now: datetime, *, limit: int) -> list[Proposal]:
    """Open ones whose time is over, those that ended first in front."""
    rows = db.execute(
        _SELECT + "WHERE proposals.state = 'open' AND expire_time <= ? ORDER BY expire_time LIMIT ?",
        (micros(now), limit),
    )
    return [_proposal(row) for row in rows]


def next_expiry(db: apsw.Connection) -> datetime | None:
    """When the first open one expires; None while none is open."""
    us = db.execute("SELECT min(expire_time) FROM proposals WHERE state = 'open'").get
    return None if us is None else instant(us)


def newest(
    db: apsw.Connection, *, state: ProposalState | None, before: int | None, limit: int
) -> list[Proposal]:
    """A page of proposals, newest first, with numbers below `before`."""
    rows = db.execute(
        _SELECT + "WHERE (?1 IS NULL OR proposals.state = ?1) AND (?2 IS NULL OR number < ?2)"
        " ORDER BY number DESC LIMIT ?3",
        (state, before, limit),
    )
    return [_proposal(row) for row in rows]


def _proposal(row: Sequence[Any]) -> Proposal:
    return Proposal(
        number=ProposalNumber(row[0]),
        agent=AgentId(row[1]),
        agent_name=row[2],
        turn=TurnId(row[3]),
        call_key=row[4],
        tool=row[5],
        arguments=row[6],
        workdir=row[7],
        target=row[8],
        text=row[9],
        state=ProposalState(row[10]),
        outcome=row[11],
        create_time=instant(row[12]),
        expire_time=instant(row[13]),
        beside=json.loads(row[14]),
    )
