"""What the agent service tells a client: kept events, and text as it comes. Instants are aware and UTC.

Made from the contract in adapters/agent.py; folded into lines by transcript.py.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a client is in a stream of events."""

    stream: str  #: random; another one after a restore
    number: int  #: the newest event that was shown


class TurnState(StrEnum):
    """What happened to a turn."""

    BEGUN = "begun"
    RESUMED = "resumed"
    ENDED = "ended"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The user said something, here or in another client."""

    key: str
    text: str
    images: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """Something came from outside: a batch, a schedule's run, a report."""

    source: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnChanged:
    """A turn began, went on, or is over; then `answered` are the keys of the messages that it took."""

    state: TurnState
    answered: tuple[str, ...] = ()
    reason: str = ""  #: why it was stopped or failed, a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied:
    """A turn's end; `answered` are the keys of the messages that it answers."""

    text: str
    answered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictured:
    """The agent showed a stored image."""

    image: str
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Acted:
    """A tool call began or ended."""

    call: str
    summary: str
    ended: bool
    outcome: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """A sentence of onechat itself; `answered` are the keys of the messages that end with it."""

    text: str
    answered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """Something awaits the user's yes, or has had its answer."""

    number: int
    text: str
    state: str  #: "open", "done", …, as the contract names it
    outcome: str


Body = Said | Outside | TurnChanged | Replied | Pictured | Acted | Noticed | Proposed


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A kept event."""

    number: int
    agent_id: str
    agent: str  #: its name
    turn: str  #: empty where it belongs to none
    time: datetime
    body: Body


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCame:
    """A piece of an answer as it is written; `offset` counts code points of the step's whole text."""

    agent_id: str
    turn: str
    step: int
    offset: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextVoid:
    """A step starts again: what came of its text counts no more."""

    agent_id: str
    turn: str
    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Commanded:
    """A command line, given in some client, and its answer."""

    line: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The stream is open; the kept events that were asked for follow."""


Item = Event | TextCame | TextVoid | Commanded | Opened


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One item of the stream, and the place after it."""

    place: Place
    item: Item
