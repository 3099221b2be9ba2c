"""What the memory holds, as the agent sees it: messages, lines, views.

Sizes are UTF-8 bytes. How the memory service speaks of the same things: adapters/memory.py.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType

AgentId = NewType("AgentId", str)  #: random, never reused; the agent's log has the same id
MessageId = NewType("MessageId", int)  #: 0, 1, 2, … in one log
UNBUILT = "(not summarized yet: zoom it)"  #: stands for a line that is not built


class Kind(StrEnum):
    """What a message of a log is; the word before its text in views and zooms."""

    USER = "user"
    REPLY = "reply"
    TOOL = "tool"
    ECHO = "echo"
    WORK = "work"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message to be appended; the same key appends it once."""

    key: str
    kind: Kind
    text: str
    time: datetime  #: UTC
    source: str = ""  #: user, whatsapp:ID, telegram:ID, schedule:ID, an agent's id; "" for its own
    turn: str = ""
    step: int = 0  #: from 1; 0 outside a turn
    call: str = ""  #: the tool call that it states or answers
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message of a log."""

    id: MessageId
    key: str
    kind: Kind
    text: str
    time: datetime  #: UTC
    zone: str  #: IANA
    source: str
    turn: str
    step: int
    call: str
    images: tuple[str, ...]
    part: int  #: from 1; which piece of a long text
    parts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A node of the tree: one line for `count` messages from `first` on."""

    first: MessageId
    count: int
    text: str
    built: bool

    def shown(self) -> str:
        """As views and zooms show it: `first+count|text`."""
        return f"{self.first}+{self.count}|{self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A log as a turn sees it, frozen."""

    text: str  #: `<chat>`, a line each, `</chat>`
    length: int  #: messages that it tiles: the id of the next one
    whole: bool  #: whether every line is built
    generation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Zoomed:
    """What a zoom shows: lines below a node, or messages whole."""

    lines: tuple[Line, ...]
    messages: tuple[Message, ...]
    next_page: int | None  #: where the next page begins; None at the end
