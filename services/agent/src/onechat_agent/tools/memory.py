"""zoom and date: how an agent looks into its own memory, and by a name into that of its own people.

Both only read. What a zoom shows is in a log already, so the agent's gets a pointer to it instead, such as
`zoomed 40+8` or `zoomed House`. Who may name whom: kin.py. How the memory service is reached:
adapters/memory.py.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any, Final, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import grpc
from onechat_runtime.errors import RemoteError, retriable

from onechat_agent.domain.agent import Agent, Role
from onechat_agent.domain.chat import AgentId, MessageId, Zoomed
from onechat_agent.domain.text import one_line
from onechat_agent.tools.schema import function_schema, integer, optional, text
from onechat_agent.tools.tool import CallContext, Resumption, ToolResult
from onechat_agent.tools.zoomed import Asked, is_outside, place, shown

_ID_MAX: Final = 2**62  # ids travel as int64


class MemoryReader(Protocol):
    """What the tools need of the memory service; both raise RemoteError."""

    async def zoom(self, log: AgentId, first: int, count: int, page: int | None) -> Zoomed:
        """The two lines below node `first+count`, or for count 1 the message whole; a page of it.

        For count 0 a page of a flat log's messages, or of a view's lines.
        """
        ...

    async def message_time(self, log: AgentId, message: MessageId) -> tuple[datetime, str]:
        """When `message` was written: the instant and the IANA zone stored with it."""
        ...


class Names(Protocol):
    """Who may name whom."""

    def readable(self, agent: AgentId, name: str) -> Agent | None:
        """Whose memory `agent` reads by `name`; None for nobody of its own."""
        ...

    def names(self, agent: AgentId) -> Sequence[str]:
        """Its children and subagents."""
        ...


_WHOSE: Final[Mapping[Role, str]] = {
    Role.ROOT: "null for your own; else the name of one of your children or subagents.",
    Role.CHILD: "null for your own; else the name of one of your subagents.",
    Role.SUBAGENT: "null for the one that the view shows; your own name for your own chat.",
    Role.GROUP: "null for your own. You have nobody else's to name.",
}
_BY_NAME: Final = (
    " With a name alone it shows what that one knows: all of a subagent's chat, or a child's view as it is "
    "now; with id and n, too, what is behind a line of a child's, or with n 1 a message of either's whole."
)


class ZoomTool:
    """Shows what is behind a line, or what somebody knows."""

    name = "zoom"
    resumption = Resumption.AGAIN

    def __init__(self, memory: MemoryReader, role: Role, names: Names | None = None) -> None:
        """For agents of `role`; without `names` they can name nobody."""
        self._memory = memory
        self._names = names
        self.schema = function_schema(
            "zoom",
            "Look behind a line of the view. A line `40+8|…` stands for the 8 messages from 40 on: zoom with "
            "id 40 and n 8 gives the two lines that it was made of, each of half as many messages, and so on "
            "down to n 1: the message whole, with its images. A long answer comes in pages."
            + (_BY_NAME if role in (Role.ROOT, Role.CHILD) else ""),
            id=optional(integer("The number before the plus of the line.")),
            n=optional(integer("The number after the plus: 1 for a message whole.")),
            name=optional(text(f"Whose memory: {_WHOSE[role]}")),
            page=optional(
                integer("null at first; to go on, the page number that the answer before ended with.")
            ),
        )

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """The lines or messages; it taints when somebody else's or a message from outside is among them."""
        asked = self._asked(context, arguments)
        if isinstance(asked, str):
            return ToolResult(text=asked, failed=True)
        try:
            zoomed = await self._memory.zoom(asked.log, asked.first, asked.count, asked.page)
        except RemoteError as error:
            if error.reason == "LOG_UNKNOWN" and asked.name:
                return ToolResult(text=f"{asked.name} has not begun yet.", failed=True)
            return _memory_failed(error)
        return ToolResult(
            text=shown(zoomed, asked),
            logged=f"zoomed {asked.shown}",
            taints=asked.others or any(is_outside(message, context) for message in zoomed.messages),
            images=tuple(image for message in zoomed.messages for image in message.images)
            if asked.count
            else (),
        )

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """Such as `zoom: 40+8` or `zoom: House 40+8`."""
        name, count = arguments["name"], arguments["n"]
        where = place(name and one_line(name, 40), arguments["id"], count, arguments["page"])
        return f"zoom: {where}"

    def _asked(self, context: CallContext, arguments: Mapping[str, Any]) -> Asked | str:
        """What is asked for, or what is wrong with it whatever a log holds; the memory says the rest."""
        first, count, page = arguments["id"], arguments["n"], arguments["page"]
        wrong = _zoom_fault(first, count, page, named=arguments["name"] is not None)
        if wrong is not None:
            return wrong
        if arguments["name"] is None:
            return Asked(log=context.memory_of, first=first, count=count, page=page)
        named = self._names.readable(context.agent, arguments["name"]) if self._names else None
        if named is None:
            return self._nobody(context.agent, arguments["name"])
        return Asked(
            log=named.id,
            first=first or 0,
            count=count or 0,
            page=page,
            name=named.name,
            others=named.id != context.agent,
        )

    def _nobody(self, agent: AgentId, name: str) -> str:
        names = ", ".join(self._names.names(agent)) if self._names else ""
        others = f"You can name {names}." if names else "With name null, zoom reads what the view shows."
        return f"You have nobody called {one_line(name, 40)} to name. {others}"


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


def _zoom_fault(first: int | None, count: int | None, page: int | None, *, named: bool) -> str | None:
    """What is wrong with a zoom whatever the log holds."""
    if named and first is None and count is None:
        pass
    elif first is None or count is None:
        return "zoom needs id and n, as a line shows them: `40+8|…` is id 40 and n 8."
    elif not (0 <= first < _ID_MAX and 1 <= count < _ID_MAX):
        return f"There is no line {first}+{count}: ids count from 0 and n from 1."
    if page is not None and not 0 <= page < _ID_MAX:
        return (
            f"There is no page {page}: page is null at first, then the number that the last page ended with."
        )
    return None


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
