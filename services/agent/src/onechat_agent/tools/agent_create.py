"""agent_create: how the root makes a child. What a child is: children.py.

A call that a restart has interrupted is made again with its key, which gives the child that it made.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from onechat_runtime.errors import StoreFull

from onechat_agent.domain.agent import AREA_MAX
from onechat_agent.domain.children import ChildRefused, NewChild
from onechat_agent.domain.text import one_line
from onechat_agent.tools.schema import function_schema, text
from onechat_agent.tools.tool import CallContext, Resumption, ToolResult


class Nursery(Protocol):
    """Where children are made."""

    async def create(self, name: str, area: str, *, request_id: str) -> NewChild:
        """A child, the same for the same `request_id`. Raises ChildRefused, StoreFull."""
        ...


class AgentCreateTool:
    """Makes a permanent child."""

    name = "agent_create"
    resumption = Resumption.SAME_KEY
    schema = function_schema(
        "agent_create",
        "Make a permanent agent under you for one area of the user's life, with a chat and a memory of its "
        "own. It begins without knowing anything: tell it what it must know with `tell`. Only when the user "
        "wants one.",
        name=text("One word for the area, 2 to 32 letters from A to Z, a capital first, such as House."),
        responsibility=text(
            f"What it is responsible for, in a sentence or two of at most {AREA_MAX} characters. It sees "
            "this in every call, and so do you."
        ),
    )

    def __init__(self, children: Nursery) -> None:
        self._children = children

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """Makes it, and says whether it is at work already."""
        name = arguments["name"]
        try:
            made = await self._children.create(name, arguments["responsibility"], request_id=context.call_key)
        except ChildRefused as refused:
            return ToolResult(text=f"No child was made. {refused}", failed=True)
        except StoreFull:
            return ToolResult(text="No child was made: the disk is full.", failed=True)
        if made.ready:
            return ToolResult(text=f"{made.name} is there. It knows only its responsibility so far.")
        return ToolResult(
            text=f"{made.name} is made, and begins once its memory and its folder can be made too, which is "
            "not possible so far. What you tell it is kept until then."
        )

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """Such as `agent_create: House, heating and repairs`."""
        return f"agent_create: {one_line(arguments['name'], 40)}, {arguments['responsibility']}"
