"""A group of a running agent service: its agent, what its members write, and what its gateway is told.

Over what agent_house.py starts. The gateway's stream is the group's own; `house.seen` has the user's.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from onechat.agent.v1 import agent_service_pb2, delivery_pb2, event_pb2

from tests.fakes.agent_house import TIMEOUT_S, House, Seen

SOURCE = "telegram:-1002718"
ANA = "telegram:71"  # the private chat of a member
_KEYS = count(1)


@dataclass(slots=True)
class Group:
    """A group that the owner has admitted."""

    house: House
    agent: agent_service_pb2.Agent
    source: str
    seen: Seen = field(default_factory=Seen)

    async def write(self, text: str, *, wakes: bool = True, source: str = "", **fields: Any) -> str:
        """Hands over as the gateway does, a message for the agent unless it does not wake; its key."""
        source = source or self.source
        key = fields.pop("key", f"g:{next(_KEYS)}")
        place = delivery_pb2.ReplyTo(chat=source.removeprefix("telegram:"), message=key, topic="4")
        delivery = delivery_pb2.NewDelivery(
            **{
                "key": key,
                "to": self.agent.agent_id,
                "source": source,
                "text": text,
                "wakes_root": wakes,
                "reply_to": place if wakes else None,
                **fields,
            }
        )
        request = agent_service_pb2.DeliverRequest(deliveries=[delivery])
        await self.house.stub("telegram").Deliver(request, timeout=TIMEOUT_S)
        return str(key)

    async def ask(self, text: str, **fields: Any) -> event_pb2.TurnChange:
        """A message for the agent, and how its turn ended."""
        return await self.ended(await self.write(text, **fields))

    async def ended(self, key: str) -> event_pb2.TurnChange:
        """How the turn ended that took the delivery of this key."""

        def found(seen: Seen) -> list[event_pb2.TurnChange]:
            return [end for end in seen.ends() if key in [one.key for one in end.answered]]

        await self.seen.until(lambda seen: bool(found(seen)))
        return found(self.seen)[0]

    async def lines(self) -> list[str]:
        """Its log as `kind: text` lines."""
        return await self.house.lines(self.agent.name)


async def admit(house: House, source: str = SOURCE, title: str = "Friends", request_id: str = "") -> Any:
    """The agent of a group, as the gateway has it made."""
    request = agent_service_pb2.CreateGroupAgentRequest(source=source, title=title, request_id=request_id)
    return (await house.stub("telegram").CreateGroupAgent(request, timeout=TIMEOUT_S)).agent


@asynccontextmanager
async def admitted(house: House, source: str = SOURCE, title: str = "Friends") -> AsyncIterator[Group]:
    """The group with its gateway's stream, from now on."""
    group = Group(house=house, agent=await admit(house, source, title), source=source)

    async def watch() -> None:
        request = agent_service_pb2.SubscribeRequest(audience=source)
        async for response in house.stub("telegram").Subscribe(request, timeout=600):
            group.seen.responses.append(response)
            group.seen.came.set()

    watching = asyncio.ensure_future(watch())
    try:
        await group.seen.until(lambda seen: bool(seen.responses))
        yield group
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
