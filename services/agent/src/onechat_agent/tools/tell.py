"""tell: what an agent says to its children and its subagents. How it is queued: tells.py of the package.

A call that a restart has interrupted is made again with its key, and what was told once is not told again.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from onechat_agent.domain.between import Heard, TellRefused
from onechat_agent.domain.text import one_line
from onechat_agent.tools.schema import function_schema, text
from onechat_agent.tools.tool import CallContext, Resumption, ToolResult


class Telling(Protocol):
    """Hands messages to agents."""

    async def tell(self, context: CallContext, name: str, message: str) -> Heard:
        """`message` for the caller's agent of that name, once for the same call. Raises TellRefused."""
        ...


class TellTool:
    """Hands a message to an agent of the caller's own, which takes it up by itself."""

    name = "tell"
    resumption = Resumption.SAME_KEY
    schema = function_schema(
        "tell",
        "Say something to one of your agents. One that is at work reads it between two of its steps; one "
        "that is done, or idle, goes to work on it. It knows only what it is told and what its own chat "
        "holds, so say all that it needs, with who wrote what and when. What it has to say comes later as a "
        "message that begins with its name in brackets: do not wait for it.",
        name=text("The agent's name, without brackets."),
        message=text(
            "What to say. A line of its own such as [image 0123456789abcdef.png] brings that stored picture "
            "along."
        ),
    )

    def __init__(self, telling: Telling) -> None:
        self._telling = telling

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """Who has it by now."""
        try:
            heard = await self._telling.tell(context, arguments["name"], arguments["message"].strip())
        except TellRefused as refused:
            return ToolResult(text=f"Nobody was told anything: {refused}.", failed=True)
        if heard.wakes:
            return ToolResult(text=f"{heard.name} has it.")
        return ToolResult(
            text=f"{heard.name} has it in its chat and does not go to work on it: this has gone back and "
            f"forth between agents {heard.hops} times without the user. If it matters, end your turn and say "
            "so."
        )

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """Such as `tell: House, look at the boiler`."""
        return f"tell: {one_line(arguments['name'], 40)}, {arguments['message']}"
