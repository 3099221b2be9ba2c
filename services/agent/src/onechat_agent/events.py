"""What clients see: kept events in their order, and between them the text as it comes.

Kept events are rows that belong to their cause's transaction (`keep`); subscribers read them from the store.
What passes by (text, command answers) lives here alone, and a slow subscriber loses nothing else.
"""

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Final

import apsw
import grpc
from onechat_runtime.clock import Clock
from onechat_runtime.errors import ServiceError
from onechat_runtime.store import Store

from onechat_agent.adapters import agent_rows, event_rows
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import TurnId
from onechat_agent.domain.events import KEPT_DAYS, Event, NewEvent, Passing, TextCame, TextVoid
from onechat_agent.patience import committed

JOIN_S: Final = 0.05  # text that comes within this time goes out as one piece
PASSING_MAX: Final = 1_000  # things that wait for one subscriber; above that the oldest text is lost
BATCH: Final = 100  # numbers looked at in one read of kept events
_STREAM_FACT: Final = "event_stream"


class EventsGone(ServiceError):
    """The events after that place are not all here: go on from the oldest, and say what was missed."""

    code, reason = grpc.StatusCode.OUT_OF_RANGE, "EVENTS_GONE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a subscriber is given: a kept event, or something that passes by; `number` is its place."""

    number: int
    item: Event | Passing


@dataclass(slots=True, eq=False)
class Subscriber:
    """Who listens, and what waits for them; `Events.listening` makes it."""

    audience: str
    queue: deque[int | Passing] = field(default_factory=deque)  #: a number: kept events up to it are there
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    def push(self, item: int | Passing) -> None:
        """Lets `item` wait for them: something that passes by, or the number of the newest kept event."""
        if isinstance(item, int):
            if self.queue and isinstance(self.queue[-1], int):
                self.queue[-1] = item
            else:
                self.queue.append(item)
        elif self.audience in ("*", item.audience):
            self.queue.append(item)
            if len(self.queue) > PASSING_MAX:
                self._drop_oldest_passing()
        self.wake.set()

    def _drop_oldest_passing(self) -> None:
        for index, waiting in enumerate(self.queue):
            if not isinstance(waiting, int):
                del self.queue[index]
                around = [self.queue[at] for at in (index - 1, index) if 0 <= at < len(self.queue)]
                if index and all(isinstance(one, int) for one in around) and len(around) == 2:
                    del self.queue[index - 1]  # the number after it says that, too
                return


@dataclass(slots=True)
class _Growing:
    """The text of the step that an agent is at."""

    turn: TurnId
    step: int
    audience: str
    text: str = ""
    sent: int = 0  #: code points that subscribers have
    timer: asyncio.TimerHandle | None = None


class Events:
    """Keeps, numbers and hands out an agent service's events; belongs to one event loop."""

    def __init__(self, store: Store, clock: Clock, stream: str) -> None:
        """`stream` is this store's: see `open_stream`."""
        self._store = store
        self._clock = clock
        self.stream = stream
        self._subscribers: set[Subscriber] = set()
        self._growing: dict[AgentId, _Growing] = {}

    def keep(self, db: apsw.Connection, event: NewEvent) -> None:
        """Stores `event` in the transaction of its cause; subscribers get it once that is on disk."""
        event_rows.add(db, event)
        self._store.when_committed(self._kept)

    def _kept(self) -> None:
        _, newest = self._store.read(event_rows.bounds)
        for subscriber in self._subscribers:
            subscriber.push(newest)

    # ------------------------------------------------------------ what passes by

    def text(self, agent: AgentId, turn: TurnId, step: int, offset: int, text: str, audience: str) -> None:
        """Some of an answer's text has come; `offset` code points came before it in this step."""
        growing = self._growing.get(agent)
        if growing is None or (growing.turn, growing.step) != (turn, step):
            self.finish_text(agent)
            growing = self._growing[agent] = _Growing(turn, step, audience)
        growing.text = growing.text[:offset] + text
        growing.sent = min(growing.sent, offset)
        if growing.timer is None:
            growing.timer = asyncio.get_running_loop().call_later(JOIN_S, self._send_text, agent)

    def void_text(self, agent: AgentId, turn: TurnId, step: int, audience: str) -> None:
        """The step starts again."""
        growing = self._growing.pop(agent, None)
        if growing is None or (growing.turn, growing.step) != (turn, step):
            return
        if growing.timer is not None:
            growing.timer.cancel()
        self.pass_by(TextVoid(agent=agent, turn=turn, step=step, audience=audience))

    def finish_text(self, agent: AgentId) -> None:
        """The step's text is whole: what is left of it goes out before the events that follow."""
        self._send_text(agent)
        self._growing.pop(agent, None)

    def _send_text(self, agent: AgentId) -> None:
        growing = self._growing.get(agent)
        if growing is None:
            return
        if growing.timer is not None:
            growing.timer.cancel()
            growing.timer = None
        if growing.sent < len(growing.text):
            self.pass_by(self._piece(agent, growing, growing.sent))
            growing.sent = len(growing.text)

    def _piece(self, agent: AgentId, growing: _Growing, start: int) -> TextCame:
        return TextCame(
            agent=agent,
            turn=growing.turn,
            step=growing.step,
            offset=start,
            text=growing.text[start:],
            audience=growing.audience,
        )

    def pass_by(self, item: Passing) -> None:
        """Shows `item` to those who are there now."""
        for subscriber in self._subscribers:
            subscriber.push(item)

    # ------------------------------------------------------------ subscribers

    def place(self) -> int:
        """The newest kept event's number."""
        return self._store.read(event_rows.bounds)[1]

    async def start(self, *, after: int | None, stream: str, audience: str, last: int) -> int:
        """Where a subscription begins: its first event is the next kept one after the number given back.

        Raises EventsGone for a place of another stream, or one whose events are not all kept.
        """
        before_oldest, newest = self._store.read(event_rows.bounds)
        if after is None:
            if last <= 0:
                return newest
            # Aside: events of a rare audience lie far apart.
            return await self._store.read_aside(
                lambda db: event_rows.start_of_last(db, last, audience=audience)
            )
        if (stream and stream != self.stream) or after < before_oldest or after > newest:
            raise EventsGone(oldest=str(before_oldest + 1), stream=self.stream)
        return after

    @contextmanager
    def listening(self, audience: str) -> Iterator[Subscriber]:
        """A subscriber, who misses nothing from now on; first comes the text so far of steps at work."""
        subscriber = Subscriber(audience)
        self._subscribers.add(subscriber)
        try:
            subscriber.push(self.place())
            for agent, growing in self._growing.items():
                if growing.sent:
                    subscriber.push(
                        replace(self._piece(agent, growing, 0), text=growing.text[: growing.sent])
                    )
            yield subscriber
        finally:
            self._subscribers.discard(subscriber)

    async def seen_by(self, subscriber: Subscriber, start: int) -> AsyncIterator[Seen]:
        """Kept events after `start`, then everything as it happens, without end."""
        place = start
        while True:
            while subscriber.queue:
                head = subscriber.queue.popleft()
                if not isinstance(head, int):
                    yield Seen(number=place, item=head)
                    continue
                while place < head:
                    up_to = min(head, place + BATCH)
                    for event in self._between(place, up_to, subscriber.audience):
                        place = event.number
                        yield Seen(number=place, item=event)
                    place = up_to
                    await asyncio.sleep(0)  # a long way is for other audiences: others get their turn
            subscriber.wake.clear()
            await subscriber.wake.wait()

    def _between(self, place: int, up_to: int, audience: str) -> list[Event]:
        return self._store.read(lambda db: event_rows.between(db, place, up_to, audience=audience))

    async def forget_old(self) -> None:
        """Once a day: drops what is older than 90 days. Runs until cancelled."""
        while True:
            limit = self._clock.now() - timedelta(days=KEPT_DAYS)
            await committed(self._store, self._clock, partial(event_rows.forget_before, oldest=limit))
            await self._clock.sleep(24 * 3600)


def open_stream(db: apsw.Connection) -> str:
    """This store's stream of events, made at its first start: random, so that a new store is another one."""
    stream = agent_rows.fact(db, _STREAM_FACT)
    if stream is None:
        stream = secrets.token_hex(8)
        agent_rows.set_fact(db, _STREAM_FACT, stream)
    return stream
