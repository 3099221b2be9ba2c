"""A tool call that consent holds back until the user has said yes to it. Pure; instants are aware and UTC.

When a call needs a yes: consent.py. How one comes to its end: proposals.py. What people read of it:
proposal_words.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NewType

from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.consent import Why
from onechat_agent.domain.delivery import TurnId
from onechat_agent.domain.keys import run_key

ProposalNumber = NewType("ProposalNumber", int)  #: what the user answers by; never reused

OPEN_FOR: Final = timedelta(hours=24)
OUTCOME_MAX: Final = 2_000  #: characters of an outcome that people are shown; the agent gets all of it


class ProposalState(StrEnum):
    """How far a proposal is; it never goes back."""

    OPEN = "open"
    APPROVED = "approved"  #: the user has said yes: it runs, or goes on at the next start
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"  #: it was interrupted: not known whether it ran
    REFUSED = "refused"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A call as it was held back, which is how it would run."""

    agent: AgentId
    turn: TurnId
    call_key: str  #: a call that is made again after a restart proposes once
    tool: str
    arguments: str  #: JSON; these very values run
    workdir: str  #: where it runs, and where relative paths begin
    target: str = ""  #: the file that write or edit would change, without links
    why: Why
    own_rules: bool = False  #: it would change an instructions.md or agent.toml
    beside: Mapping[str, str] = field(default_factory=dict)  #: words beside an argument, by its name
    pictures: tuple[str, ...] = ()  #: stored names of those that people are shown before it


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A stored proposal."""

    number: ProposalNumber
    agent: AgentId
    agent_name: str
    turn: TurnId
    call_key: str
    tool: str
    arguments: str
    workdir: str
    target: str
    text: str  #: what people are shown of it
    state: ProposalState
    outcome: str  #: how it went, once it is over; at most OUTCOME_MAX characters
    beside: Mapping[str, str] = field(default_factory=dict)  #: words beside an argument, by its name
    create_time: datetime
    expire_time: datetime

    @property
    def run_id(self) -> str:
        """The request id of its run: made twice, it is done once."""
        return run_key(self.number)

    def expired(self, now: datetime) -> bool:
        """Whether it is still open and its time is over."""
        return self.state is ProposalState.OPEN and now >= self.expire_time
