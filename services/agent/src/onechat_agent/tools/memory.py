"""zoom and date: how an agent looks into its own memory.

Both only read. What a zoom shows is in the log already, so the log gets a pointer to it instead, such as
`zoomed 40+8`. How the memory service is reached: adapters/memory.py.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any, Final, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import grpc
from onechat_runtime.errors import RemoteError, retriable

from onechat_agent.domain.chat import AgentId, Kind, Message, MessageId, Zoomed
from onechat_agent.tools.schema import function_schema, integer, optional, text
from onechat_agent.tools.tool import CallContext, Resumption, ToolResult

_ID_MAX: Final = 2**62  # ids travel as int64
_OWN_SOURCES: Final = frozenset({"", "user"})


class MemoryReader(Protocol):
    """What the tools need of the memory service; both raise RemoteError."""

    async def zoom(self, log: AgentId, first: int, count: int, page: int | None) -> Zoomed:
        """The two lines below node `first+count`, or for count 1 the message whole; a page of it."""
        ...

    async def message_time(self, log: AgentId, message: MessageId) -> tuple[datetime, str]:
        """When `message` was written: the instant and the IANA zone stored with it."""
        ...


class ZoomTool:
    """Shows what is behind a line."""

    name = "zoom"
    resumption = Resumption.AGAIN
    schema = function_schema(
        "zoom",
        "Look behind a line of the view. A line `40+8|…` stands for the 8 messages from 40 on: zoom with id "
        "40 and n 8 gives the two lines that it was made of, each of half as many messages, and so on down "
        "to n 1: the message whole, with its images. A long answer comes in pages.",
        id=optional(integer("The number before the plus of the line.")),
        n=optional(integer("The number after the plus: 1 for a message whole.")),
        name=optional(text("Whose memory: null for your own. You have nobody else's to name.")),
        page=optional(integer("null at first; to go on, the page number that the answer before ended with.")),
    )

    def __init__(self, memory: MemoryReader) -> None:
        self._memory = memory

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """The lines or the message; it taints when a message from outside is among them."""
        first, count, page = arguments["id"], arguments["n"], arguments["page"]
        wrong = _zoom_fault(first, count, arguments["name"], page)
        if wrong is not None:
            return ToolResult(text=wrong, failed=True)
        try:
            zoomed = await self._memory.zoom(context.memory_of, first, count, page)
        except RemoteError as error:
            return _memory_failed(error)
        return ToolResult(
            text=_shown(zoomed),
            logged=f"zoomed {first}+{count}" + ("" if page is None else f", page {page}"),
            taints=any(_is_outside(message, context.memory_of) for message in zoomed.messages),
            images=tuple(image for message in zoomed.messages for image in message.images),
        )

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """Such as `zoom: 40+8`."""
        page = arguments["page"]
        return f"zoom: {arguments['id']}+{arguments['n']}" + ("" if page is None else f", page {page}")


class DateTool:
    """Tells when a message was written."""

    name = "date"
    resumption = Resumption.AGAIN
    schema = function_schema(
        "date",
        "Tell the date and time of a message.",
        id=integer("The message's number, as lines of the view show it before the plus."),
    )

    def __init__(self, memory: MemoryReader, user_zone: str) -> None:
        """`user_zone`: the IANA zone in which times are shown to the user."""
        self._memory = memory
        self._user_zone = user_zone

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """The instant in the zone stored with it, and in the user's where that is another."""
        message = MessageId(arguments["id"])
        if not 0 <= message < _ID_MAX:
            return ToolResult(text=f"There is no message {message}: ids count from 0.", failed=True)
        try:
            time, zone = await self._memory.message_time(context.memory_of, message)
        except RemoteError as error:
            return _memory_failed(error)
        return ToolResult(
            text=f"{message}: {_moment(time, zone, self._user_zone)}", logged=f"dated {message}"
        )

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """Such as `date: 5`."""
        return f"date: {arguments['id']}"


def _zoom_fault(first: int | None, count: int | None, name: str | None, page: int | None) -> str | None:
    """What is wrong with a zoom whatever the log holds; the memory service says the rest."""
    if name is not None:
        return "You have nobody to name: zoom with name null reads your own memory."
    if first is None or count is None:
        return "zoom needs id and n, as a line shows them: `40+8|…` is id 40 and n 8."
    if not (0 <= first < _ID_MAX and 1 <= count < _ID_MAX):
        return f"There is no line {first}+{count}: ids count from 0 and n from 1."
    if page is not None and not 0 <= page < _ID_MAX:
        return (
            f"There is no page {page}: page is null at first, then the number that the last page ended with."
        )
    return None


def _is_outside(message: Message, agent: AgentId) -> bool:
    """Whether text that neither the user nor this agent wrote is in `message`.

    Tool results have no source, yet they hold what shell and read once brought in.
    """
    return message.kind is Kind.ECHO or (message.source not in _OWN_SOURCES and message.source != agent)


def _shown(zoomed: Zoomed) -> str:
    """The page as the model reads it, ending with where the next one begins."""
    parts = [line.shown() for line in zoomed.lines]
    parts.extend(_whole(message) for message in zoomed.messages)
    if zoomed.next_page is not None:
        parts.append(f"(more follows: zoom again with page {zoomed.next_page})")
    return "\n".join(parts)


def _whole(message: Message) -> str:
    """`id+1|kind: text`, then a line for each image that the text does not show, then its other parts."""
    lines = [f"{message.id}+1|{message.kind}: {message.text}"]
    marks = (f"[image {image}]" for image in message.images)
    shown = set(message.text.splitlines())
    lines.extend(mark for mark in marks if mark not in shown)
    if message.parts > 1:
        began = message.id - message.part + 1
        ends = message.id + message.parts - message.part
        lines.append(f"(part {message.part} of {message.parts} of one text: messages {began} to {ends})")
    return "\n".join(lines)


def _moment(time: datetime, stored: str, user: str) -> str:
    """`time` for reading, with weekday and offset."""
    shown = _in_zone(time, stored)
    return shown if user == stored else f"{shown}; for the user {_in_zone(time, user)}"


def _in_zone(time: datetime, name: str) -> str:
    zone: tzinfo
    try:
        zone = ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a zone that this machine's table does not have
        zone, name = UTC, "UTC"
    local = time.astimezone(zone)
    offset = local.strftime("%z")
    return f"{local:%A, %Y-%m-%d %H:%M:%S} {name} (UTC{offset[:3]}:{offset[3:5]})"


def _memory_failed(error: RemoteError) -> ToolResult:
    """A refusal in memory's own words; else that it was not reached. Reading changes nothing either way."""
    if error.reason and error.message and not retriable(error.code):
        return ToolResult(text=error.message, failed=True)
    if retriable(error.code) or error.code is grpc.StatusCode.CANCELLED:
        return ToolResult(text="The memory service could not be reached: nothing was done.", failed=True)
    return ToolResult(text="The memory service failed at this: nothing was done.", failed=True)
