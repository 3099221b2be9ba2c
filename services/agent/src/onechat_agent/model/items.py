"""What goes to a model and what comes back, apart from any endpoint's wire form.

The wire form of requests: wire.py. One attempt at a call: call.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """An image for the model."""

    media_type: str  #: image/png, image/jpeg, image/webp, image/gif
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class UserItem:
    """What is said to the model: the view, the state, a message."""

    text: str
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyItem:
    """What the model said earlier in the same turn or conversation."""

    text: str
    phase: str | None = None  #: kept as the endpoint gave it


@dataclass(frozen=True, slots=True, kw_only=True)
class CallItem:
    """A tool call of the model."""

    call_id: str  #: as the endpoint gave it, or made from the call's key in a resumed turn
    name: str
    arguments: str  #: JSON as the model wrote it, also when it is malformed


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputItem:
    """The result of a tool call."""

    call_id: str
    text: str
    pictures: tuple[Picture, ...] = ()
    key: str = ""  #: of the result in the agent's log; no endpoint sees it


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningItem:
    """The model's encrypted thoughts, replayed within a turn and never logged."""

    raw: Mapping[str, Any]


Item = UserItem | ReplyItem | CallItem | OutputItem | ReasoningItem


class ToolChoice(StrEnum):
    """Whether the model may call tools: a compaction sends them and allows none."""

    AUTO = "auto"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerForm:
    """An answer that is JSON of a schema: each property required, nothing beside them."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One call: [tools][system][items], the head the same bytes from call to call."""

    system: str
    tools: tuple[Mapping[str, Any], ...]  #: strict function schemas, in a fixed order
    items: tuple[Item, ...]
    model: str
    effort: str
    cache_key: str  #: the agent's; steers prompt caching
    max_output_tokens: int
    tool_choice: ToolChoice = ToolChoice.AUTO
    answer_form: AnswerForm | None = None  #: what the answer's text must be; None: any


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Tokens of one call, from the terminal event of its stream."""

    input: int = 0  #: cached ones among them
    cached_input: int = 0
    output: int = 0  #: reasoning among them
    reasoning: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """A finished answer: all items in order, ready to be replayed."""

    items: tuple[ReplyItem | CallItem | ReasoningItem, ...]
    usage: TokenUsage

    @property
    def text(self) -> str:
        """The answer's words, joined."""
        return "".join(item.text for item in self.items if isinstance(item, ReplyItem))

    @property
    def calls(self) -> tuple[CallItem, ...]:
        """The tool calls, in the order of the answer."""
        return tuple(item for item in self.items if isinstance(item, CallItem))
