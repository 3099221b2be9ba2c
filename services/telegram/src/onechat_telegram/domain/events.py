"""What the gateway sees of the agent's life. What a private chat does not show only moves the place on."""

from dataclasses import dataclass

from onechat_telegram.domain.outgoing import EventPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The stream is open."""

    place: EventPlace  #: of the newest event that there is


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A reply of the agent, or a notice of onechat itself."""

    place: EventPlace
    turn: str  #: empty for none
    text: str  #: Markdown; an empty one is not shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Something awaits the owner's yes, or has had its answer: shown letter by letter, as no Markdown."""

    place: EventPlace
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBegan:
    """A turn is at work, from its beginning or again."""

    place: EventPlace
    turn: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOver:
    """A turn has ended, however."""

    place: EventPlace
    turn: str
    failure: str  #: why there is no reply, a sentence for the user; empty when it did not fail


@dataclass(frozen=True, slots=True, kw_only=True)
class NotShown:
    """Anything else."""

    place: EventPlace


AgentEvent = Opened | Said | Asked | TurnBegan | TurnOver | NotShown


class EventsMissed(Exception):
    """The place is not in what the agent keeps."""

    def __init__(self, before_oldest: EventPlace) -> None:
        super().__init__("the place is not in what the agent keeps")
        self.before_oldest = before_oldest  #: whence all that is kept follows; perhaps of another stream
