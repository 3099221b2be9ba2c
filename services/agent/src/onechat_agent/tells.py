"""What agents tell their own people: queued once each, in the order in which an agent called.

What a message between agents is: domain/between.py. Who may be told: kin.py. What the model is told of it:
tools/tell.py.
"""

import asyncio
from collections import defaultdict
from typing import Protocol

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError
from onechat_runtime.store import Store

from onechat_agent.adapters import agent_rows, delivery_rows, turn_rows
from onechat_agent.domain.agent import Agent, Role
from onechat_agent.domain.between import SUBAGENT_TOLD_MAX, Heard, TellRefused, pictures, told
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import Delivery
from onechat_agent.domain.text import one_line
from onechat_agent.kin import Kin
from onechat_agent.patience import committed
from onechat_agent.queue import Queue
from onechat_agent.tools.tool import CallContext


class StoredImages(Protocol):
    """Where it is looked up whether a picture is stored."""

    async def is_there(self, name: str) -> bool:
        """Whether an image of that name is stored. Raises RemoteError."""
        ...


class Tells:
    """All agents' tells; belongs to one event loop."""

    def __init__(self, store: Store, clock: Clock, queue: Queue, kin: Kin, images: StoredImages) -> None:
        self._store = store
        self._clock = clock
        self._queue = queue
        self._kin = kin
        self._images = images
        # Calls of one step run side by side; what one agent tells keeps the order in which it called.
        self._line: defaultdict[AgentId, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def tell(self, context: CallContext, name: str, message: str) -> Heard:
        """Queues `message` for the caller's agent of that name, on disk when this answers.

        A call that is made again tells nothing more and gives the first answer. Raises TellRefused.
        """
        async with self._line[context.agent]:
            known = self._store.read(lambda db: delivery_rows.known(db, context.call_key))
            return self._heard(await self._told(context, name, message) if known is None else known[0])

    async def _told(self, context: CallContext, name: str, message: str) -> Delivery:
        to = self._kin.own(context.agent, name)
        if to is None:
            raise TellRefused(self._nobody(context.agent, name))
        if not message:
            raise TellRefused("a message needs a text")
        if to.role is Role.SUBAGENT and len(message.encode()) > SUBAGENT_TOLD_MAX:
            raise TellRefused(
                f"a subagent takes at most {SUBAGENT_TOLD_MAX:,} bytes at once, so put the text into a file "
                "and name that"
            )
        images = pictures(message)
        try:
            missing = [image for image in images if not await self._images.is_there(image)]
        except RemoteError:
            raise TellRefused("the memory service, which has the pictures, could not be reached") from None
        if missing:
            raise TellRefused(f"no picture {missing[0]} is stored")
        return await self._queued(context, to, message, images)

    async def _queued(
        self, context: CallContext, to: Agent, message: str, images: tuple[str, ...]
    ) -> Delivery:
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

        def job(db: apsw.Connection) -> Delivery:
            if turn_rows.is_stopping(db, context.turn):  # it must set nobody to work any more
                raise TellRefused("this turn was stopped")
            return self._queue.add_own(db, new, self._clock.now())[0]

        return await committed(self._store, self._clock, job)

    def _heard(self, delivery: Delivery) -> Heard:
        name = self._store.read(lambda db: agent_rows.name_of(db, delivery.agent))
        return Heard(name=name, wakes=delivery.wakes, hops=delivery.hops)

    def _nobody(self, agent: AgentId, name: str) -> str:
        names = ", ".join(self._kin.names(agent))
        nobody = f"you have no agent called {one_line(name, 40)}"
        return f"{nobody}; yours are {names}" if names else f"{nobody}, nor any other"
