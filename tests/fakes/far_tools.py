"""Tools of other services, such as whatsapp_send, that only write down what they were asked to do.

They keep what the real ones promise: the same request id is done once and answered alike, also after a
restart of the agent, which these tools outlive. A gate holds a call before it is done, or after.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from onechat_agent.tools.schema import function_schema, integer, optional, text
from onechat_agent.tools.tool import CallContext, Resumption, ToolResult


class FarTool:
    """One such tool."""

    resumption = Resumption.SAME_KEY

    def __init__(self, name: str, **properties: Mapping[str, Any]) -> None:
        self.name = name
        self.schema: Mapping[str, Any] = function_schema(name, f"Does {name}.", **properties)
        self.done: dict[str, Mapping[str, Any]] = {}  #: what was done, by request id
        self.asked: list[CallContext] = []  #: each call that reached it, those that came again too
        self.before: asyncio.Event | None = None  #: waited for before it is done
        self.after: asyncio.Event | None = None  #: waited for before it is answered
        self.reached = asyncio.Event()  #: a call waits, or has been answered
        self.gives: ToolResult | Exception = ToolResult(text="sent")

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        self.asked.append(context)
        if self.before is not None:
            self.reached.set()
            await self.before.wait()
        self.done.setdefault(context.call_key, arguments)
        self.reached.set()
        if self.after is not None:
            await self.after.wait()
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives

    def summary(self, arguments: Mapping[str, Any]) -> str:
        return self.name


def whatsapp_send() -> FarTool:
    """Sends a message to a chat."""
    return FarTool(
        "whatsapp_send", id=text("A person."), chat=text("A chat."), text=text(""), image=optional(text(""))
    )


def schedule_remove() -> FarTool:
    """Takes a schedule away."""
    return FarTool("schedule_remove", id=integer("A schedule."))


def send(words: str = "hi", *, chat: str = "15550002222@s.whatsapp.net") -> dict[str, Any]:
    """Arguments of a send."""
    return {"id": "15550002222", "chat": chat, "text": words, "image": None}
