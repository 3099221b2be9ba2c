"""The durable queue: what was accepted is on disk, is taken once, and is done in a turn or without one.

Who may hand over what: servicer.py. What a turn takes: domain/delivery.py. Times are UTC.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import KeyReused
from onechat_runtime.store import Store

from onechat_agent.adapters import agent_rows, delivery_rows
from onechat_agent.domain.chat import AgentId, Kind
from onechat_agent.domain.delivery import Delivery, NewDelivery, may_join, wakes, without_held_groups
from onechat_agent.domain.events import NewEvent, OutsideCame, UserSaid
from onechat_agent.events import Events
from onechat_agent.patience import committed

log = logs.get("onechat.agent")


class Queue:
    """All agents' deliveries."""

    def __init__(self, store: Store, clock: Clock, events: Events, root: AgentId) -> None:
        self._store = store
        self._clock = clock
        self._events = events
        self._root = root
        self._came: defaultdict[AgentId, asyncio.Event] = defaultdict(asyncio.Event)
        self.on_news: list[Callable[[AgentId], None]] = []  #: told of each agent that something has come for

    async def accept(self, deliveries: Sequence[NewDelivery]) -> list[Delivery]:
        """Stores them in one transaction and answers once they are on disk; a known key gives its first one.

        Raises KeyReused, and stores none of them, when a known key comes with another body.
        """
        now = self._clock.now()
        stored = await self._store.write(lambda db: [self.add(db, new, now) for new in deliveries])
        for delivery in stored:
            log.info("delivery_accepted", delivery=delivery.id, kind=delivery.kind, wakes=delivery.wakes)
        return stored

    def add(self, db: apsw.Connection, new: NewDelivery, now: datetime) -> Delivery:
        """Stores one in the caller's transaction, with its event; wakes its agent once that is on disk."""
        known = delivery_rows.known(db, new.key)
        if known is not None:
            delivery, body_hash = known
            if body_hash != delivery_rows.body_hash(new):
                raise KeyReused(
                    "This key was used before for another delivery. Take a new one; nothing was stored."
                )
            return delivery
        recipient, routed = self._recipient(db, new)
        delivery = delivery_rows.add(
            db,
            new,
            agent=recipient,
            wakes=wakes(new, to_root=recipient == self._root, routed=routed),
            now=now,
        )
        name = agent_rows.name_of(db, recipient)
        self._events.keep(db, _event(delivery, name, now))
        self._store.when_committed(lambda: self.nudge(recipient))
        return delivery

    def _recipient(self, db: apsw.Connection, new: NewDelivery) -> tuple[AgentId, bool]:
        """(who gets it, whether by a route); a recipient that is gone is the root."""
        if not new.to:
            child = agent_rows.route(db, new.source)
            return (self._root, False) if child is None else (child, True)
        if new.to != "root" and new.to in agent_rows.known_ids(db):
            return AgentId(new.to), False
        return self._root, False

    def waiting_for(self, agent: AgentId) -> list[Delivery]:
        """What is queued for `agent`, in order of acceptance."""
        return self._store.read(lambda db: delivery_rows.queued(db, agent))

    def that_may_join(self, agent: AgentId, *, turn_backed: bool) -> list[Delivery]:
        """What came during a turn and may enter it at its next step; of a group only what is whole."""
        ready = without_held_groups(self.waiting_for(agent), self._clock.now())
        return [delivery for delivery in ready if may_join(delivery, turn_backed=turn_backed)]

    async def done_without_turn(self, deliveries: Sequence[Delivery]) -> None:
        """They are in the log and need no turn."""
        await committed(self._store, self._clock, lambda db: delivery_rows.finish(db, deliveries))

    async def news(self, agent: AgentId) -> None:
        """Returns once something has come for `agent` since the last `look`."""
        await self._came[agent].wait()

    def look(self, agent: AgentId) -> list[Delivery]:
        """What is queued for `agent`; what comes after this makes `news` return."""
        self._came[agent].clear()
        return self.waiting_for(agent)

    def nudge(self, agent: AgentId) -> None:
        """Makes `agent` look at its queue again, and tells the listeners, who may let it in."""
        self._came[agent].set()
        for listener in self.on_news:
            listener(agent)


def _event(delivery: Delivery, agent_name: str, now: datetime) -> NewEvent:
    if delivery.kind is Kind.USER:
        return NewEvent(
            agent=delivery.agent,
            agent_name=agent_name,
            time=now,
            body=UserSaid(delivery=delivery.id, key=delivery.key, text=delivery.text, images=delivery.images),
        )
    return NewEvent(
        agent=delivery.agent,
        agent_name=agent_name,
        time=now,
        body=OutsideCame(
            delivery=delivery.id,
            key=delivery.key,
            source=delivery.source,
            text=delivery.text,
            wakes=delivery.wakes,
        ),
    )
