"""The durable queue: what was accepted is on disk, is taken once, and is done in a turn or without one.

All that comes for an agent goes through it: what gateways hand over, what agents tell each other, reports.
Who may hand over what: servicer.py. What a turn takes: domain/taking.py. Times are UTC.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import KeyReused
from onechat_runtime.store import Store

from onechat_agent.adapters import agent_rows, delivery_rows, route_rows
from onechat_agent.domain.agent import Agent, AgentState, Role
from onechat_agent.domain.chat import AgentId, Kind
from onechat_agent.domain.delivery import Delivery, NewDelivery, from_agent, wakes
from onechat_agent.domain.events import USER_AUDIENCE, NewEvent, OutsideCame, UserSaid
from onechat_agent.domain.groups import is_of_members, takes
from onechat_agent.domain.taking import Choice, choose, choose_one, joining
from onechat_agent.errors import DeliveryInvalid
from onechat_agent.events import Events
from onechat_agent.patience import committed

log = logs.get("onechat.agent")

SOMEBODY = "an agent"  #: whom a delivery was for, when not even the name is known


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recipient:
    agent: AgentId
    routed: bool = False
    meant_for: str = ""  #: whom it was for, if that one is gone
    group: str = ""  #: the source of the group whose agent it is; else empty


class Queue:
    """All agents' deliveries."""

    def __init__(self, store: Store, clock: Clock, events: Events, root: AgentId) -> None:
        self._store = store
        self._clock = clock
        self._events = events
        self._root = root
        self._came: defaultdict[AgentId, asyncio.Event] = defaultdict(asyncio.Event)
        self.on_news: list[Callable[[AgentId], None]] = []  #: told of each agent that something has come for

    # ------------------------------------------------------------ what comes

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
        """Stores one in the caller's transaction, with its event; wakes its agent once that is on disk.

        Raises KeyReused when its key is known with another body, DeliveryInvalid when nobody may get it.
        """
        known = delivery_rows.known(db, new.key)
        if known is None:
            return self._store_new(db, new, now)
        delivery, body_hash = known
        if body_hash != delivery_rows.body_hash(new):
            raise KeyReused(
                "This key was used before for another delivery. Take a new one; nothing was stored."
            )
        return delivery

    def add_own(self, db: apsw.Connection, new: NewDelivery, now: datetime) -> tuple[Delivery, bool]:
        """Stores a message of an agent, whose key is its place in a turn; (it, whether it is new).

        A call that is made again after a restart may see its turn tainted by what ran beside it: what was
        stored first stays.
        """
        known = delivery_rows.known(db, new.key)
        return (self._store_new(db, new, now), True) if known is None else (known[0], False)

    def _store_new(self, db: apsw.Connection, new: NewDelivery, now: datetime) -> Delivery:
        if new.former_source:
            route_rows.unite(db, new.former_source, new.source)
        to = self._recipient(db, new)
        body_hash = delivery_rows.body_hash(new)
        if to.meant_for and from_agent(new.source):  # nobody's word to the one who gets it instead
            new = replace(new, kind=Kind.WORK, backed=False)
        delivery = delivery_rows.add(
            db,
            new,
            body_hash=body_hash,
            agent=to.agent,
            wakes=wakes(new, to_root=to.agent == self._root, routed=to.routed, to_group=bool(to.group)),
            meant_for=to.meant_for,
            now=now,
        )
        name = agent_rows.name_of(db, to.agent)
        self._events.keep(db, _event(delivery, name, to.group or USER_AUDIENCE, now))
        for agent in {to.agent, *self._waiting_for_last(db, new)}:
            self._store.when_committed(partial(self.nudge, agent))
        return delivery

    def _recipient(self, db: apsw.Connection, new: NewDelivery) -> _Recipient:
        """Who gets it: whom it names, whom its source's route names, or the agent of its group.

        The root for one who is gone. Raises DeliveryInvalid for what the agent of a group does not take, and
        for what is of a group, or of a member alone, and would be anybody else's.
        """
        to = self._found(db, new)
        if is_of_members(new.source) and not to.group:
            raise DeliveryInvalid("What members of groups write is for the agent of their group alone.")
        return to

    def _found(self, db: apsw.Connection, new: NewDelivery) -> _Recipient:
        if new.to == "root":
            return _Recipient(agent=self._root)
        wanted = AgentId(new.to) if new.to else route_rows.route(db, route_rows.in_use(db, new.source))
        agent = agent_rows.agent(db, wanted) if wanted else agent_rows.of_source(db, new.source)
        if wanted is None and agent is None:
            return _Recipient(agent=self._root)
        if agent is not None and agent.role is Role.GROUP:
            return self._of_group(db, new, agent)
        if agent is None or agent.state is AgentState.REMOVED:
            return _Recipient(agent=self._root, meant_for=agent.name if agent else SOMEBODY)
        return _Recipient(agent=agent.id, routed=not new.to)

    def _of_group(self, db: apsw.Connection, new: NewDelivery, agent: Agent) -> _Recipient:
        if not takes(agent.source, new.source) or new.kind is not Kind.WORK or new.backed:
            raise DeliveryInvalid("A group's agent takes the messages of its group and of its members alone.")
        there = agent if agent.state is not AgentState.REMOVED else agent_rows.of_source(db, agent.source)
        writer = agent_rows.of_source(db, new.source)
        if writer is not None and writer.source != agent.source:  # it would pass for a member's private words
            raise DeliveryInvalid("That is another group's source. Hand it over to the agent of that group.")
        if there is None:
            raise DeliveryInvalid("The agent of this group is gone. Admit the group anew.")
        return _Recipient(agent=there.id, group=there.source)

    def _waiting_for_last(self, db: apsw.Connection, new: NewDelivery) -> list[AgentId]:
        """Who waits for the rest of a group, if `new` was the last of it."""
        if not new.group or delivery_rows.stored_of(db, new.group) < new.group_count:
            return []
        return delivery_rows.waiting_with(db, new.group)

    # ------------------------------------------------------------ what is taken

    def choose(self, agent: AgentId, *, one_by_one: bool = False) -> Choice:
        """What `agent` does next with its queue; what comes after this makes `news` return.

        `one_by_one`: each message that wakes has a turn of its own.
        """
        self._came[agent].clear()
        queued, groups = self._store.read(
            lambda db: (delivery_rows.queued(db, agent), delivery_rows.groups(db, agent))
        )
        return (choose_one if one_by_one else choose)(queued, groups, self._clock.now())

    def that_may_join(self, agent: AgentId, *, turn_backed: bool) -> list[Delivery]:
        """What came during a turn and may enter it at its next step; of a group only what is whole."""
        queued, groups = self._store.read(
            lambda db: (delivery_rows.queued(db, agent), delivery_rows.groups(db, agent))
        )
        return joining(queued, groups, self._clock.now(), turn_backed=turn_backed)

    async def done_without_turn(self, deliveries: Sequence[Delivery]) -> None:
        """They are in the log and need no turn."""
        await committed(self._store, self._clock, lambda db: delivery_rows.finish(db, deliveries))

    # ------------------------------------------------------------ who is waked

    async def news(self, agent: AgentId) -> None:
        """Returns once something has come for `agent` since its last `choose`."""
        await self._came[agent].wait()

    def nudge(self, agent: AgentId) -> None:
        """Makes `agent` look at its queue again, and tells the listeners, who may let it in."""
        self._came[agent].set()
        for listener in self.on_news:
            listener(agent)


def _event(delivery: Delivery, agent_name: str, audience: str, now: datetime) -> NewEvent:
    """What clients see of it: the user's own words as theirs, all else as what came."""
    body: UserSaid | OutsideCame
    if delivery.kind is Kind.USER and not from_agent(delivery.source):
        body = UserSaid(delivery=delivery.id, key=delivery.key, text=delivery.text, images=delivery.images)
    else:
        body = OutsideCame(
            delivery=delivery.id,
            key=delivery.key,
            source=delivery.source,
            text=delivery.text,
            wakes=delivery.wakes,
        )
    return NewEvent(agent=delivery.agent, agent_name=agent_name, time=now, body=body, audience=audience)
