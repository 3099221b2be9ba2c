"""Handing over to the agent service: batches, addressed messages, and the clearing of a memory, in order.

All of one group goes by one lane of the runtime's outbox, whose sender this is: what was put there before a
clearing is in the memory that is set aside. The outbox needs `Deliveries.senders`.
"""

import json
from datetime import datetime
from typing import Any, Final

import apsw
from onechat_runtime.clock import Clock, instant, micros
from onechat_runtime.errors import RemoteError
from onechat_runtime.outbox import Outbox, Sender

from onechat_telegram.groups.domain import wording
from onechat_telegram.groups.domain.group import Group
from onechat_telegram.groups.domain.ids import (
    AgentId,
    ChatId,
    MessageId,
    MessageKey,
    Source,
    ThreadId,
    key_of_line,
)
from onechat_telegram.groups.domain.messages import Place
from onechat_telegram.groups.ports import AGENT_GONE, Adapter, Agents, GroupDelivery

DELIVERY: Final = "group-delivery"
CLEARING: Final = "group-clearing"


class Deliveries:
    """What is on its way to group agents."""

    def __init__(self, agents: Agents, adapter: Adapter) -> None:
        self._agents = agents
        self._adapter = adapter

    @property
    def senders(self) -> dict[str, Sender]:
        """For the outbox of the store; each kind with who hands it over."""
        return {DELIVERY: self._deliver, CLEARING: self._clear}

    async def _deliver(self, key: str, body: bytes) -> None:
        await self._agents.deliver(delivery_from_json(MessageKey(key), json.loads(body)))

    async def _clear(self, key: str, body: bytes) -> None:
        told = json.loads(body)
        try:
            kept = await self._agents.reset(AgentId(told["agent"]), MessageKey(key))
            line = wording.CLEARED.format(kept=kept)
        except RemoteError as error:
            if error.reason != AGENT_GONE:
                raise
            line = wording.NO_AGENT
        await self._adapter.reply(key_of_line(MessageKey(key)), place_from_json(told["place"]), line)


class Lanes:
    """Puts into the outbox what goes to group agents, in the caller's transaction."""

    def __init__(self, outbox: Outbox, clock: Clock) -> None:
        self._outbox = outbox
        self._clock = clock

    def deliver(self, db: apsw.Connection, delivery: GroupDelivery, group: Group) -> None:
        """Hand `delivery` over after whatever was put for `group` before."""
        body = json.dumps(delivery_to_json(delivery)).encode()
        self._put(db, DELIVERY, delivery.key, body, group.source)

    def clear(self, db: apsw.Connection, key: MessageKey, group: Group, place: Place) -> None:
        """Set the group's memory aside, then say so at `place`."""
        body = json.dumps({"agent": group.agent, "place": place_to_json(place)}).encode()
        self._put(db, CLEARING, key, body, group.source)

    def _put(self, db: apsw.Connection, kind: str, key: MessageKey, body: bytes, source: Source) -> None:
        lane = f"group:{source}"
        self._outbox.put(db, kind=kind, key=key, body=body, lane=lane, now=self._clock.now())


def place_to_json(place: Place) -> list[str]:
    """For the store."""
    return [place.chat, place.message, place.thread]


def place_from_json(told: list[str]) -> Place:
    """What `place_to_json` made."""
    chat, message, thread = told
    return Place(chat=ChatId(chat), message=MessageId(message), thread=ThreadId(thread))


def delivery_to_json(delivery: GroupDelivery) -> dict[str, Any]:
    """For the store; the key stands beside it."""
    return {
        "agent": delivery.agent,
        "source": delivery.source,
        "text": delivery.text,
        "images": list(delivery.images),
        "time": micros(delivery.time),
        "wakes": delivery.wakes,
        "place": None if delivery.place is None else place_to_json(delivery.place),
    }


def delivery_from_json(key: MessageKey, told: dict[str, Any]) -> GroupDelivery:
    """What `delivery_to_json` made."""
    written: datetime = instant(told["time"])
    return GroupDelivery(
        key=key,
        agent=AgentId(told["agent"]),
        source=Source(told["source"]),
        text=told["text"],
        images=tuple(told["images"]),
        time=written,
        wakes=told["wakes"],
        place=None if told["place"] is None else place_from_json(told["place"]),
    )
