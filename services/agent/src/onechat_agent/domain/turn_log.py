"""What a log holds of a turn, read back after a restart. Pure.

The keys say what each message is (keys.py); the pieces of a long text are joined again.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from onechat_agent.domain.chat import Kind, Message
from onechat_agent.domain.delivery import TurnId
from onechat_agent.domain.keys import end_key, place_in_turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A delivery's message."""

    key: str
    kind: Kind
    text: str
    source: str
    images: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class LoggedCall:
    """A tool call, and its result once there is one."""

    step: int
    call: int  #: from 1
    name: str
    arguments: str  #: JSON as the model wrote it
    result: str | None = None


@dataclass(slots=True, kw_only=True)
class LoggedStep:
    """One answer of the model: its text and its calls, in order."""

    step: int
    text: str = ""
    calls: list[LoggedCall] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class TurnLog:
    """A turn as its log shows it."""

    entries: list[Said | LoggedStep] = field(default_factory=list)  #: in the order of the log
    ending: str | None = None  #: the words with which onechat itself ended it
    length: int = 0  #: the log's length after the last message read

    @property
    def last_step(self) -> LoggedStep | None:
        """The newest answer; None before the first."""
        return next((entry for entry in reversed(self.entries) if isinstance(entry, LoggedStep)), None)

    @property
    def keys(self) -> set[str]:
        """The keys of the deliveries that it holds."""
        return {entry.key for entry in self.entries if isinstance(entry, Said)}

    @property
    def open_calls(self) -> list[LoggedCall]:
        """Calls without a result; only the last step can have any."""
        return [call for call in self.last_step.calls if call.result is None] if self.last_step else []

    @property
    def final_text(self) -> str | None:
        """The reply that ended the turn, when its last message is one without a call."""
        if self.ending is not None:
            return self.ending
        last = self.entries[-1] if self.entries else None
        return last.text if isinstance(last, LoggedStep) and not last.calls else None


def call_text(name: str, arguments: str) -> str:
    """How a call stands in the log: the tool's name and its JSON arguments."""
    return f"{name} {arguments}"


def read_turn(messages: Iterable[Message], turn: TurnId) -> TurnLog:
    """The turn's log from its messages, oldest first, beginning at its T0."""
    found = TurnLog()
    steps: dict[int, LoggedStep] = {}
    for message in _joined(messages, found):
        place = place_in_turn(message.key, turn)
        if message.key == end_key(turn):
            found.ending = message.text
        elif place is None:
            found.entries.append(
                Said(
                    key=message.key,
                    kind=message.kind,
                    text=message.text,
                    source=message.source,
                    images=message.images,
                )
            )
        else:
            step = steps.get(place.step)
            if step is None:
                step = steps[place.step] = LoggedStep(step=place.step)
                found.entries.append(step)
            if place.result:
                step.calls[place.call - 1].result = message.text
            elif place.call:
                name, _, arguments = message.text.partition(" ")
                step.calls.append(
                    LoggedCall(step=place.step, call=place.call, name=name, arguments=arguments)
                )
            else:
                step.text = message.text
    return found


@dataclass(frozen=True, slots=True)
class _Whole:
    key: str
    kind: Kind
    text: str
    source: str
    images: tuple[str, ...]


def _joined(messages: Iterable[Message], found: TurnLog) -> list[_Whole]:
    """Messages with the pieces of long texts joined; sets the log's length."""
    whole: list[_Whole] = []
    for message in messages:
        found.length = message.id + 1
        if message.part > 1 and whole and whole[-1].key == message.key:
            last = whole.pop()
            whole.append(_Whole(last.key, last.kind, last.text + message.text, last.source, last.images))
        else:
            whole.append(_Whole(message.key, message.kind, message.text, message.source, message.images))
    return whole
