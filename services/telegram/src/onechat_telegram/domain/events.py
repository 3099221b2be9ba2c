"""What the gateway sees of the agents' life. What no chat shows only moves the place on.

What is said goes to the owner's chat, or, from a group's agent, to a spot in the group.
"""

from dataclasses import dataclass

from onechat_telegram.domain.callbacks import Question
from onechat_telegram.domain.outgoing import EventPlace, Spot


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The stream is open."""

    place: EventPlace  #: of the newest event that there is


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A reply of an agent, or a notice of onechat itself."""

    place: EventPlace
    turn: str  #: empty for none
    text: str  #: Markdown; an empty one is not shown
    spot: Spot | None  #: None for the owner's chat


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureShown:
    """An agent shows a stored picture."""

    place: EventPlace
    image: str  #: its stored name
    caption: str  #: Markdown; may be empty
    spot: Spot | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """Something awaits the owner's yes."""

    place: EventPlace
    question: Question
    text: str  #: who would run what


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalAnswered:
    """A proposal has had its answer, from wherever, or has expired; or its run is over."""

    place: EventPlace
    question: Question
    text: str  #: who would run what
    agent: str
    state: str  #: as the contract names it, in small letters
    outcome: str  #: how it went, once it is over


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBegan:
    """A turn of the root is at work: from its beginning, again, or still."""

    place: EventPlace
    turn: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOver:
    """A turn has ended, however."""

    place: EventPlace
    turn: str
    failure: str  #: why there is no reply, a sentence for whoever wrote; empty when it did not fail
    spot: Spot | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCame:
    """Some text of an answer of the root, as it comes; not kept, so of no place."""

    turn: str
    step: int
    offset: int  #: code points of the step's text before it
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextVoid:
    """A step of the root begins again: its text so far is void."""

    turn: str
    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NotShown:
    """Anything else."""

    place: EventPlace


AgentEvent = (
    Opened
    | Said
    | PictureShown
    | Proposed
    | ProposalAnswered
    | TurnBegan
    | TurnOver
    | TextCame
    | TextVoid
    | NotShown
)


class EventsMissed(Exception):
    """The place is not in what the agent keeps."""

    def __init__(self, before_oldest: EventPlace) -> None:
        super().__init__("the place is not in what the agent keeps")
        self.before_oldest = before_oldest  #: whence all that is kept follows; perhaps of another stream
