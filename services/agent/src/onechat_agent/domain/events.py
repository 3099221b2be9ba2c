"""What clients see of an agent's life: kept events, and what passes by.

How they are stored: adapters/event_rows.py. Who gets them: events.py.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import DeliveryId, ReplyTo, TurnId
from onechat_agent.domain.proposal import ProposalState

USER_AUDIENCE = "user"  #: the user's own clients; a group's audience is its source
KEPT_DAYS = 90


class TurnPhase(StrEnum):
    """A turn's change as clients see it."""

    BEGUN = "begun"
    RESUMED = "resumed"
    ENDED = "ended"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A delivery that ends with an event, and where its answer goes."""

    delivery: DeliveryId
    key: str
    reply_to: ReplyTo


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSaid:
    delivery: DeliveryId
    key: str
    text: str
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideCame:
    delivery: DeliveryId
    key: str
    source: str
    text: str
    wakes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnChanged:
    phase: TurnPhase
    answered: tuple[Answered, ...] = ()  #: once it is over
    reason: str = ""  #: why it failed or was stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied:
    text: str  #: an empty one is shown by no client
    answered: tuple[Answered, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolActive:
    call: str
    tool: str
    summary: str
    ended: bool = False
    outcome: str = ""  #: only when ended


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureShown:
    image: str  #: the stored name
    caption: str
    answered: tuple[Answered, ...]  #: the turn's deliveries


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    text: str
    answered: tuple[Answered, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalChanged:
    """A call awaits the user's yes, or has gone on from there; its agent is the event's."""

    number: int
    tool: str
    arguments: str  #: exact, as JSON
    text: str  #: what people are shown
    state: ProposalState
    expire_time: datetime
    outcome: str = ""  #: once it is over


Body = UserSaid | OutsideCame | TurnChanged | Replied | PictureShown | ToolActive | Noticed | ProposalChanged


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event before it has its number."""

    agent: AgentId
    agent_name: str
    time: datetime
    body: Body
    turn: TurnId | None = None
    audience: str = USER_AUDIENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(NewEvent):
    """A kept event."""

    number: int  #: rises, never reused
    generation: int  #: of the agent's log, whose messages it names


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCame:
    """Some of an answer's text as it comes; not kept."""

    agent: AgentId
    turn: TurnId
    step: int
    offset: int  #: code points before it in the step's text
    text: str
    audience: str = USER_AUDIENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class TextVoid:
    """A step starts again: its text so far is void; not kept."""

    agent: AgentId
    turn: TurnId
    step: int
    audience: str = USER_AUDIENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandGiven:
    """A command line and its answer; not kept, since it may hold a phone number."""

    line: str
    answer: str
    audience: str = USER_AUDIENCE


Passing = TextCame | TextVoid | CommandGiven
