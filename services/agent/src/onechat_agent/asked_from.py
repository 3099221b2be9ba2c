"""Where in a group its agent was asked for what became a proposal, so that the outcome is told there alone.

Inside the caller's transaction. Only agents of groups have such places: the user's clients need none. How an
outcome is told: proposals.py.
"""

from dataclasses import dataclass

import apsw

from onechat_agent.adapters import delivery_rows, proposal_rows
from onechat_agent.domain.agent import Agent, Role
from onechat_agent.domain.delivery import Delivery, ReplyTo, TurnId
from onechat_agent.domain.groups import is_private, proposal_of


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedFrom:
    """Where an outcome goes."""

    reply_to: ReplyTo
    private: bool  #: a member alone asked: nothing of it is for the group


def asked_from(db: apsw.Connection, agent: Agent | None, turn: TurnId) -> AskedFrom:
    """Where `agent` was asked for what it did in `turn`; what followed from an outcome, as that was."""
    asked = _last(db, turn)
    if agent is None or agent.role is not Role.GROUP or asked is None:
        return AskedFrom(reply_to=ReplyTo(), private=False)
    first: Delivery | None = asked
    while first is not None and (number := proposal_of(first.source)) is not None:
        before = proposal_rows.by_number(db, number)
        first = None if before is None else _last(db, before.turn)
    # What cannot be told any more counts as private: silence harms less than a secret that is out.
    return AskedFrom(reply_to=asked.reply_to, private=first is None or is_private(agent.source, first.source))


def _last(db: apsw.Connection, turn: TurnId) -> Delivery | None:
    return next(reversed(delivery_rows.of_turn(db, turn)), None)
