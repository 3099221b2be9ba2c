"""route, unroute and routes: which chats go to which child. What a route does: routes.py of the package.

Consent stands before the first two (domain/consent.py). A call that a restart has interrupted is made again
with its key and changes nothing twice.
"""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from onechat_agent.domain.delivery import NAME_MAX
from onechat_agent.domain.routes import Changed, RouteRefused
from onechat_agent.domain.text import one_line
from onechat_agent.tools.schema import function_schema, text
from onechat_agent.tools.tool import CallContext, Resumption, ToolResult

_SOURCE: Final = (
    "The chat, as whatsapp:CHAT-ID, such as whatsapp:15550002222@s.whatsapp.net: the id that the first line "
    "of its messages shows."
)


class Map(Protocol):
    """The routes."""

    def all(self) -> list[tuple[str, str, bool]]:
        """Every route, by source: (source, the child's name, whether that child is there)."""
        ...

    async def set(self, source: str, name: str, *, request_id: str) -> Changed:
        """Routes `source` to a child, once for the same `request_id`. Raises RouteRefused."""
        ...

    async def remove(self, source: str, *, request_id: str) -> Changed:
        """Gives `source` back to the root, once for the same `request_id`."""
        ...


class RouteTool:
    """Sends what comes from a chat to a child."""

    name = "route"
    resumption = Resumption.SAME_KEY
    schema = function_schema(
        "route",
        "From now on, send all that comes from a chat to one of your children, who is waked by each of it, "
        "and no longer to you. Only when the user has agreed to it.",
        source=text(_SOURCE),
        agent=text("The child's name."),
    )

    def __init__(self, routes: Map) -> None:
        self._routes = routes

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """Sets the route, and says who had the chat before."""
        source, name = arguments["source"].strip(), arguments["agent"].strip().strip("[]")
        try:
            changed = await self._routes.set(source, name, request_id=context.call_key)
        except RouteRefused as refused:
            return ToolResult(text=f"Nothing was routed: {refused}.", failed=True)
        chat = _shown(source, changed)
        if changed.before == changed.now:
            return ToolResult(text=f"{chat} went to {changed.now} already; nothing changed.")
        return ToolResult(text=f"{chat} goes to {changed.now} from now on, not to {_you(changed.before)}.")

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """Such as `route: whatsapp:1@s.whatsapp.net to House`."""
        return f"route: {arguments['source']} to {one_line(arguments['agent'], 40)}"


class UnrouteTool:
    """Takes a route away."""

    name = "unroute"
    resumption = Resumption.SAME_KEY
    schema = function_schema(
        "unroute",
        "From now on, have what comes from a chat yourself again, and not its child. What the child has got "
        "so far stays with it. Only when the user has agreed to it.",
        source=text(_SOURCE),
    )

    def __init__(self, routes: Map) -> None:
        self._routes = routes

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """Removes the route, and says who had the chat."""
        source = arguments["source"].strip()
        changed = await self._routes.remove(source, request_id=context.call_key)
        if not changed.before:
            unknown = one_line(changed.source, NAME_MAX)
            return ToolResult(text=f"Nothing is routed from {unknown}; `routes` lists what is.", failed=True)
        chat = _shown(source, changed)
        return ToolResult(text=f"{chat} comes to you from now on, and no longer to {changed.before}.")

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """Such as `unroute: whatsapp:1@s.whatsapp.net`."""
        return f"unroute: {arguments['source']}"


class RoutesTool:
    """Lists the routes."""

    name = "routes"
    resumption = Resumption.AGAIN
    schema = function_schema("routes", "List which chats go to which child.")

    def __init__(self, routes: Map) -> None:
        self._routes = routes

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """A line each."""
        gone = ", who is not there any more: it comes to you"
        lines = [
            f"{source} goes to {name}{'' if there else gone}" for source, name, there in self._routes.all()
        ]
        return ToolResult(text="\n".join(lines) or "No chat is routed: all of them come to you.")

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """Just `routes`."""
        return "routes"


def _shown(source: str, changed: Changed) -> str:
    """The chat by the id in use, and that it is the one that was meant."""
    return source if source == changed.source else f"{source} is {changed.source} now: it"


def _you(name: str) -> str:
    return name or "you"
