"""A turn as it is stored: frozen at its begin, so that each step and each retry sends the same bytes.

How one goes on: turn_steps.py of the package. What the log holds of it: domain/turn_log.py.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import TurnId

STARTS_MAX = 5  #: a turn that was started so often without a new message in its log is given up


class TurnState(StrEnum):
    BEGUN = "begun"
    ENDED = "ended"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of an agent."""

    id: TurnId
    agent: AgentId
    state: TurnState
    begin_time: datetime
    log_start: int  #: T0: messages that its view tiles
    generation: int
    view: str
    state_block: str
    backed: bool  #: whether the user stands behind it; fixed at its begin
    tainted: bool  #: whether text from outside has entered it
    rollovers: int = 0
    steps_before: int = 0  #: steps that its view holds since the last roll-over
    starts: int = 1  #: in a row without a new message in its log
    start_length: int = 0  #: the log's length at its last start
    stop_reason: str | None = None  #: a stop was asked for and is carried out
