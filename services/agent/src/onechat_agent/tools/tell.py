"""tell: what an agent says to its children and its subagents. Who may name whom: kin.py.

A call that a restart has interrupted is made again with its key, and what was told once is not told again.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Protocol

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError
from onechat_runtime.store import Store

from onechat_agent.adapters import agent_rows, delivery_rows, turn_rows
from onechat_agent.domain.agent import Agent
from onechat_agent.domain.between import pictures, told
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import Delivery
from onechat_agent.domain.text import one_line
from onechat_agent.kin import Kin
from onechat_agent.patience import committed
from onechat_agent.queue import Queue
from onechat_agent.tools.schema import function_schema, text
from onechat_agent.tools.tool import CallContext, Resumption, ToolResult


class StoredImages(Protocol):
    """Where it is looked up whether a picture is stored."""

    async def is_there(self, name: str) -> bool:
        """Whether an image of that name is stored. Raises RemoteError."""
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

    def __init__(self, store: Store, clock: Clock, queue: Queue, kin: Kin, images: StoredImages) -> None:
        self._store = store
        self._clock = clock
        self._queue = queue
        self._kin = kin
        self._images = images
        # Calls of one step run side by side; what one agent tells keeps the order in which it called.
        self._line: defaultdict[AgentId, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """Queues it for the agent of that name, on disk when this answers."""
        name, message = arguments["name"], arguments["message"].strip()
        async with self._line[context.agent]:
            known = self._store.read(lambda db: delivery_rows.known(db, context.call_key))
            if known is not None:
                return self._said(known[0])
            return await self._tell(context, name, message)

    async def _tell(self, context: CallContext, name: str, message: str) -> ToolResult:
        to = self._kin.own(context.agent, name)
        if to is None:
            return _refused(self._nobody(context.agent, name))
        if not message:
            return _refused("a message needs a text")
        images = pictures(message)
        try:
            missing = [image for image in images if not await self._images.is_there(image)]
        except RemoteError:
            return _refused("the memory service, which has the pictures, could not be reached")
        if missing:
            return _refused(f"no picture {missing[0]} is stored")
        delivery = await self._queued(context, to, message, images)
        if delivery is None:
            return _refused("this turn was stopped")
        return self._said(delivery)

    async def _queued(
        self, context: CallContext, to: Agent, message: str, images: tuple[str, ...]
    ) -> Delivery | None:
        """None where the calling turn has been stopped: it must set nobody to work any more."""
        new = told(
            key=context.call_key,
            sender=context.agent,
            to=to.id,
            text=message,
            images=images,
            backed=context.backed,
            tainted=context.tainted,
            hops=context.hops,
        )

        def job(db: apsw.Connection) -> Delivery | None:
            if turn_rows.is_stopping(db, context.turn):
                return None
            return self._queue.add_own(db, new, self._clock.now())[0]

        return await committed(self._store, self._clock, job)

    def _said(self, delivery: Delivery) -> ToolResult:
        name = self._store.read(lambda db: agent_rows.name_of(db, delivery.agent))
        if delivery.wakes:
            return ToolResult(text=f"{name} has it.")
        return ToolResult(
            text=f"{name} has it in its chat and does not go to work on it: this has gone back and forth "
            f"between agents {delivery.hops} times without the user. If it matters, end your turn and say so."
        )

    def _nobody(self, agent: AgentId, name: str) -> str:
        names = ", ".join(self._kin.names(agent))
        nobody = f"you have no agent called {one_line(name, 40)}"
        return f"{nobody}; yours are {names}" if names else f"{nobody}, nor any other"

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """Such as `tell: House, look at the boiler`."""
        return f"tell: {one_line(arguments['name'], 40)}, {arguments['message']}"


def _refused(why: str) -> ToolResult:
    return ToolResult(text=f"Nobody was told anything: {why}.", failed=True)
