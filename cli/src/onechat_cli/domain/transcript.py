"""From what a client hears to the lines that it prints: a state machine without a clock or a screen.

`fold` takes one item and gives the lines that are final; what still changes (an answer's last line, tool
calls at work) stands in `live`, `calls` and `working`. Texts are harmless from here on. How lines look:
chat/looks.py.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, assert_never

from onechat_cli.domain.awaiting import SOURCE, Awaiting
from onechat_cli.domain.happening import (
    Acted,
    Commanded,
    Event,
    Item,
    Noticed,
    Opened,
    Outside,
    Pictured,
    Proposed,
    Replied,
    Said,
    TextCame,
    TextVoid,
    TurnChanged,
    TurnState,
)
from onechat_cli.domain.safe_text import harmless, one_line
from onechat_cli.domain.streamed import Streamed
from onechat_cli.domain.tool_calls import ToolCalls
from onechat_cli.domain.typed import HERE, is_help

SUMMARY_MAX: Final = 160  # characters of a tool call's line
LIVE_MAX: Final = 2_000  # characters of a line without end that still changes on the screen
OUTSIDE_LINES: Final = 12  # of a batch; the agent has all of it


class Kind(StrEnum):
    """What a printed line is."""

    USER = "user"
    REPLY = "reply"
    OUTSIDE = "outside"
    ACTIVITY = "activity"
    NOTICE = "notice"
    COMMAND = "command"
    REMARK = "remark"  #: of this client itself
    HEADING = "heading"  #: of this client itself, over what is not of now


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One final line."""

    kind: Kind
    text: str
    first: bool = False  #: it begins something, so that there may be room above it
    earlier: bool = False  #: it was shown before this opening of the chat


@dataclass(slots=True, kw_only=True)
class Transcript:
    """What a client has heard so far."""

    root_id: str = ""  #: whose answers are shown as they come; empty: whoever's
    shown: int = 0  #: the newest event's number; older ones are not folded again
    working: dict[str, str] = field(default_factory=dict)  #: turns at work → the agent's id
    calls: ToolCalls = field(default_factory=ToolCalls)
    awaiting: Awaiting = field(default_factory=Awaiting)  #: what the user is asked
    mine: set[str] = field(default_factory=set)  #: keys that this client printed when they were typed
    awaited: set[str] = field(default_factory=set)  #: of them, those without an answer yet
    _commands: list[str] = field(default_factory=list)
    _stream: Streamed | None = None
    _said: tuple[str, str] = ("", "")  #: the last notice, and its turn

    @property
    def live(self) -> str:
        """The unfinished end of the answer that is being written; empty when none is."""
        return harmless(self._stream.live) if self._stream is not None else ""

    @property
    def busy(self) -> bool:
        """Whether a turn is at work, or a message of this client has no answer yet."""
        return bool(self.working or self.awaited)

    def typed(self, key: str, text: str, *, images: int = 0) -> list[Line]:
        """The user sent `text` here under `key`, and so many images with it."""
        self.mine.add(key)
        self.awaited.add(key)
        return _lines(Kind.USER, _with_images(text, images))

    def commanded(self, line: str) -> list[Line]:
        """The user gave a command here; its answer comes by `answered`, the stream's copy is left out."""
        self._commands.append(line)
        self.awaiting.answered_by(line)
        return _lines(Kind.USER, line)

    def answered(self, line: str, answer: str) -> list[Line]:
        """The answer to the command `line`, which was given here."""
        if self.awaiting.says_nothing_new(line):
            return []
        return _lines(Kind.COMMAND, f"{answer}\n{HERE}" if is_help(line) else answer)

    def still_open(self, agent: str, proposed: Proposed, *, again: bool) -> list[Line]:
        """A proposal that awaits an answer; `again`: also if it was heard of."""
        return self._proposal(agent, proposed, again=again)

    def reopened(self, *, same_stream: bool) -> None:
        """The stream was opened again. In another stream nothing that was known holds."""
        self._commands.clear()
        if not same_stream:
            self.shown = 0
            self.working.clear()
            self.calls = ToolCalls()
            self.awaiting = Awaiting()
            self._stream = None

    def fold(self, item: Item) -> list[Line]:
        """The lines that `item` makes final."""
        match item:
            case Event():
                if item.number <= self.shown:
                    return []
                self.shown = item.number
                return self._event(item)
            case TextCame():
                return self._text(item)
            case TextVoid():
                return self._void(item)
            case Commanded(line=line, answer=answer):
                if line in self._commands:
                    self._commands.remove(line)
                    return []
                return [*_lines(Kind.USER, line), *_lines(Kind.COMMAND, answer)]
            case Opened():
                return []
            case _:
                assert_never(item)

    def _event(self, event: Event) -> list[Line]:
        match event.body:
            case Said(key=key, text=text, images=images):
                if key in self.mine:
                    return []
                return [*self._break(), *_lines(Kind.USER, _with_images(text, images))]
            case Outside(source=source) if source.startswith(SOURCE):
                return []
            case Outside(source=source, text=text):
                return [*self._break(), *_outside(self._heading(event, source), text)]
            case TurnChanged():
                return self._turn(event, event.body)
            case Replied(text=text, answered=answered):
                self.awaited.difference_update(answered)
                return self._reply(event, text)
            case Pictured(image=image, caption=caption):
                named = f"[image {one_line(image, SUMMARY_MAX)}]"
                return [*self._break(), *_lines(Kind.OUTSIDE, f"{named} {caption}".rstrip())]
            case Acted():
                return self._activity(event, event.body)
            case Noticed(text=text, answered=answered):
                self.awaited.difference_update(answered)
                return [*self._break(), *self._notice(event.turn, self._named(event, text))]
            case Proposed():
                return [*self._break(), *self._proposal(event.agent, event.body)]
            case _:
                assert_never(event.body)

    def _turn(self, event: Event, changed: TurnChanged) -> list[Line]:
        if changed.state in (TurnState.BEGUN, TurnState.RESUMED):
            self.working[event.turn] = event.agent_id
            return []
        self.working.pop(event.turn, None)
        self.awaited.difference_update(changed.answered)
        lines = self._break() if self._stream is not None and self._stream.turn == event.turn else []
        lines += _activities(self.calls.over(event.turn))
        if changed.state is TurnState.STOPPED:
            return [*lines, *_lines(Kind.REMARK, self._named(event, changed.reason or "stopped"))]
        if changed.state is TurnState.FAILED and changed.reason:
            return [*lines, *self._notice(event.turn, self._named(event, changed.reason))]
        return lines

    def _proposal(self, agent: str, proposed: Proposed, *, again: bool = False) -> list[Line]:
        text = self.awaiting.fold(agent, proposed, again=again)
        return _lines(Kind.NOTICE, text) if text else []

    def _notice(self, turn: str, text: str) -> list[Line]:
        """A sentence of onechat. A failed turn's reason may come as a notice too: it is said once."""
        if turn and (turn, text) == self._said:
            return []
        self._said = (turn, text)
        return _lines(Kind.NOTICE, text)

    def _reply(self, event: Event, text: str) -> list[Line]:
        stream, ended = self._stream, _activities(self.calls.behind(event.turn))
        if stream is not None and stream.turn == event.turn:
            self._stream = None
            begun = stream.begun
            left = stream.finish(text)
            if left is not None:
                return [*ended, *_replies(left, first=not begun)]
            ended += _replies(stream.rest(), first=not begun)
        if not text.strip():
            return ended
        return [*ended, *_lines(Kind.REPLY, self._named(event, text.strip("\n")))]

    def _activity(self, event: Event, acted: Acted) -> list[Line]:
        summary = self._named(event, one_line(acted.summary, SUMMARY_MAX))
        lines = self._break()
        if not acted.ended:
            self.calls.begin(event.turn, acted.call, summary)
            return lines
        said = self.calls.end(event.turn, acted.call, summary, one_line(acted.outcome, SUMMARY_MAX))
        return lines if said is None else [*lines, Line(kind=Kind.ACTIVITY, text=said)]

    def _text(self, came: TextCame) -> list[Line]:
        if not self._is_root(came.agent_id):
            return []
        before: list[Line] = []
        if self._stream is None or (self._stream.turn, self._stream.step) != (came.turn, came.step):
            before = [*self._break(), *_activities(self.calls.behind(came.turn))]
            self._stream = Streamed(turn=came.turn, step=came.step)
        begun = self._stream.begun
        self._stream.take(came.offset, came.text)
        lines = [*self._stream.complete_lines(), *self._stream.cut_live(LIVE_MAX)]
        return [*before, *_replies(lines, first=not begun)]

    def _void(self, void: TextVoid) -> list[Line]:
        stream = self._stream
        if stream is None or (stream.turn, stream.step) != (void.turn, void.step):
            return []
        self._stream = None
        return _lines(Kind.REMARK, "the answer starts again") if stream.printed else []

    def _break(self) -> list[Line]:
        """Something else comes: what there is of the answer so far is final."""
        if self._stream is None:
            return []
        begun = self._stream.begun
        return _replies(self._stream.rest(), first=not begun)

    def _heading(self, event: Event, source: str) -> str:
        """The line over what came from `source`; empty for what names itself at the root: reports, runs."""
        if ":" in source and not source.startswith("schedule:"):
            return self._named(event, f"from {one_line(source, 80)}")
        # An agent's id means nothing to people: a report begins with a name, a run with its schedule, what is
        # told says to whom.
        return "" if self._is_root(event.agent_id) else f"to {one_line(event.agent, 40)}"

    def _is_root(self, agent_id: str) -> bool:
        return not self.root_id or agent_id == self.root_id

    def _named(self, event: Event, text: str) -> str:
        return text if self._is_root(event.agent_id) else f"[{one_line(event.agent, 40)}] {text}"


def _with_images(text: str, images: int) -> str:
    """`text` with a line that says how many images came with it."""
    counted = [f"[{images} {'image' if images == 1 else 'images'}]"] if images else []
    return "\n".join([text, *counted] if text else counted)


def _lines(kind: Kind, text: str) -> list[Line]:
    return [
        Line(kind=kind, text=one, first=place == 0) for place, one in enumerate(harmless(text).split("\n"))
    ]


def _replies(texts: Iterable[str], *, first: bool) -> list[Line]:
    return [
        Line(kind=Kind.REPLY, text=harmless(one), first=first and place == 0)
        for place, one in enumerate(texts)
    ]


def _activities(texts: Iterable[str]) -> list[Line]:
    return [Line(kind=Kind.ACTIVITY, text=text) for text in texts]


def _outside(heading: str, text: str) -> list[Line]:
    lines = _lines(Kind.OUTSIDE, text)
    if len(lines) > OUTSIDE_LINES:
        more = len(lines) - OUTSIDE_LINES
        lines = [*lines[:OUTSIDE_LINES], Line(kind=Kind.OUTSIDE, text=f"… {more} more lines")]
    if not heading:
        return lines
    return [Line(kind=Kind.OUTSIDE, text=heading, first=True), *lines]
