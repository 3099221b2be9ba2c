"""What a zoom asks for and what it shows: a place in a log, the page that the model reads, what taints. Pure.

The tool: memory.py. Sizes and pages are the memory service's affair.
"""

from dataclasses import dataclass
from typing import Final

from onechat_agent.domain.chat import AgentId, Kind, Message, Zoomed
from onechat_agent.tools.tool import CallContext

_OWN_SOURCES: Final = frozenset({"", "user"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A place in a log."""

    log: AgentId
    first: int
    count: int  #: 0: all of a chat, or a view
    page: int | None
    name: str | None = None  #: whose, where a name was given
    others: bool = False  #: whether it is somebody else's than the agent's own

    @property
    def shown(self) -> str:
        """As pointers have it."""
        return place(self.name, self.first, self.count or None, self.page)


def place(name: str | None, first: int | None, count: int | None, page: int | None) -> str:
    """`40+8`, `House`, `House 40+8`, `House, page 17`."""
    node = "" if first is None or count is None else f"{first}+{count}"
    return " ".join(part for part in (name, node) if part) + ("" if page is None else f", page {page}")


def is_outside(message: Message, context: CallContext) -> bool:
    """Whether text that neither the user nor this agent, or its owner, wrote is in `message`.

    Tool results have no source, yet they hold what shell and read once brought in.
    """
    own = (*_OWN_SOURCES, context.agent, context.memory_of)
    return message.kind is Kind.ECHO or message.source not in own


def shown(zoomed: Zoomed, asked: Asked) -> str:
    """The page as the model reads it, ending with where the next one begins."""
    parts = [line.shown() for line in zoomed.lines]
    parts.extend(_whole(message, alone=asked.count > 0) for message in zoomed.messages)
    if not parts:
        parts.append("(nothing yet)")
    if zoomed.next_page is not None:
        whose = f"name {asked.name} and " if asked.name else ""
        parts.append(f"(more follows: zoom again with {whose}page {zoomed.next_page})")
    return "\n".join(parts)


def _whole(message: Message, *, alone: bool) -> str:
    """`id+1|kind: text`, in a whole chat `id|kind: text`, then a line for each image that the text does not
    show, then its other parts.
    """
    name = f"{message.id}+1" if alone else f"{message.id}"
    lines = [f"{name}|{message.kind}: {message.text}"]
    marks = (f"[image {image}]" for image in message.images)
    shown = set(message.text.splitlines())
    lines.extend(mark for mark in marks if mark not in shown)
    if message.parts > 1 and alone:
        began = message.id - message.part + 1
        ends = message.id + message.parts - message.part
        lines.append(f"(part {message.part} of {message.parts} of one text: messages {began} to {ends})")
    return "\n".join(lines)
