"""The gateway's way from a read message to the agent, on one data folder, with an agent service on loopback.

Time moves as the clock's owner says. A restart is another `running`; a run that is killed:
whatsapp_batches_process.py.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from zoneinfo import ZoneInfo

from onechat.agent.v1.delivery_pb2 import NewDelivery
from onechat_runtime.channels import open_channel
from onechat_runtime.clock import Clock
from onechat_runtime.outbox import Outbox
from onechat_runtime.steps import Reached
from onechat_runtime.store import Store, migrations_in
from onechat_whatsapp.adapters.agent import Agent
from onechat_whatsapp.batching import Batching
from onechat_whatsapp.catch_up import CatchUp
from onechat_whatsapp.domain.chat_ids import ChatId
from onechat_whatsapp.domain.ids import MessageId
from onechat_whatsapp.domain.messages import Message
from onechat_whatsapp.handover import Handover
from onechat_whatsapp.wire.events import CaughtUp, Connected, WireEvent

from tests.fakes.agent_servicer import AgentServicer
from tests.fakes.clock import ManualClock
from tests.fakes.loopback import TOKENS
from tests.fakes.stores import store_at

ROME = ZoneInfo("Europe/Rome")
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
BOB = ChatId("15550002222@s.whatsapp.net")
CAT = ChatId("15550003333@s.whatsapp.net")
GARDEN = ChatId("120363000000000001@g.us")
_numbers = count(1)
WITHIN_S = 30.0


def said(
    text: str,
    *,
    chat: ChatId = BOB,
    at_s: float = 0,
    message_id: str = "",
    from_me: bool = False,
    calls_user: bool = False,
) -> Message:
    """A message of `chat`, written so many seconds after `NOON`; with an id of its own unless given."""
    return Message(
        chat=chat,
        id=MessageId(message_id or f"3EB0{next(_numbers):08X}"),
        chat_name={BOB: "Bob", CAT: "Cat", GARDEN: "Garden"}.get(chat, ""),
        is_group=chat.endswith("@g.us"),
        sender="Bob",
        from_me=from_me,
        calls_user=calls_user,
        text=text,
        time=NOON + timedelta(seconds=at_s),
    )


@dataclass
class Running:
    """The rooms at work."""

    agent: AgentServicer
    clock: ManualClock
    store: Store
    batching: Batching
    catch_up: CatchUp
    handover: Handover
    passed: list[str]  #: the places of steps.py, as they were reached
    _changed: asyncio.Event

    async def hear(self, *events: WireEvent) -> None:
        for event in events:
            await self.catch_up.hear(event)

    async def take(self, *messages: Message) -> None:
        """Take `messages`; they are on disk when this returns."""
        before = len(self.passed)
        await self.batching.take(messages)
        await self.until(lambda: "messages_taken" in self.passed[before:])

    async def live(self) -> None:
        """A catch-up that brings nothing is over."""
        before = len(self.passed)
        await self.hear(Connected(), CaughtUp(count=0))
        await self.until(lambda: "batches_released" in self.passed[before:])

    async def quiet(self) -> None:
        """Time passes until a batch has closed."""
        before = len(self.passed)
        async with asyncio.timeout(WITHIN_S):
            while "batches_closed" not in self.passed[before:]:
                if self.clock.sleepers:
                    self.clock.advance(1)
                await asyncio.sleep(0)

    async def settled(self) -> None:
        """Return once the rooms have nothing to do before time passes."""
        for _ in range(3):
            await self.clock.until_sleeping()
            await self.store.write(lambda db: None)  # whatever was begun before is on disk

    async def until(self, condition: Callable[[], bool], within_s: float = WITHIN_S) -> None:
        """Return once `condition`, of what has `passed` or was delivered, holds."""
        async with asyncio.timeout(within_s):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def until_delivered(self, batches: int) -> list[NewDelivery]:
        """So many deliveries in all, once they are there and forgotten here."""
        await self.agent.until(lambda: len(self.agent.deliveries) >= batches, within_s=WITHIN_S)
        async with asyncio.timeout(WITHIN_S):
            while self.store.read(lambda db: db.execute("SELECT count(*) FROM outbox").get):
                await asyncio.sleep(0)
        return delivered(self.agent)


class Bench:
    """Starts the rooms, again and again, on one data folder and with one agent."""

    def __init__(self, folder: Path, agent: AgentServicer, agent_address: str) -> None:
        self.folder = folder
        self.agent = agent
        self.clock = ManualClock(NOON)
        self.vfs: str | None = None  #: of the store; None for SQLite's own
        self._address = agent_address
        self._runs = count(1)

    @asynccontextmanager
    async def running(self, *, linked: bool = True) -> AsyncIterator[Running]:
        """The rooms from a start to an end; `linked`: with a session, whose connection is to come."""
        changed, passed = asyncio.Event(), list[str]()

        def reached(place: str) -> None:
            passed.append(place)
            changed.set()

        async with rooms_at(
            self.folder,
            self._address,
            self.clock,
            reached,
            linked=linked,
            seed=next(self._runs),
            vfs=self.vfs,
        ) as rooms:
            yield Running(
                agent=self.agent,
                clock=self.clock,
                store=rooms.store,
                batching=rooms.batching,
                catch_up=rooms.catch_up,
                handover=rooms.handover,
                passed=passed,
                _changed=changed,
            )


@dataclass(frozen=True)
class Rooms:
    """The rooms, as the service wires them."""

    store: Store
    batching: Batching
    catch_up: CatchUp
    handover: Handover


@asynccontextmanager
async def rooms_at(
    folder: Path,
    agent_address: str,
    clock: Clock,
    reached: Reached,
    *,
    linked: bool,
    seed: int,
    vfs: str | None = None,
) -> AsyncIterator[Rooms]:
    """The rooms at work on the store in `folder`."""
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(
            store_at(
                folder / "store.db",
                component="whatsapp",
                migrations=migrations_in("onechat_whatsapp.migrations"),
                clock=clock,
                vfs=vfs,
            )
        )
        channel = await stack.enter_async_context(
            open_channel(agent_address, token=TOKENS["whatsapp"], name="agent")
        )
        rng = random.Random(seed)
        handover = Handover(Agent(channel), store, clock, rng, reached)
        outbox = Outbox(store, clock, rng, handover.senders, handover.settled)
        handover.go_by(outbox)
        batching = Batching(store, handover, clock, ROME, reached)
        catch_up = CatchUp(batching, clock, linked=linked)
        tasks = [asyncio.ensure_future(job()) for job in (batching.run, catch_up.run, outbox.run)]
        try:
            yield Rooms(store=store, batching=batching, catch_up=catch_up, handover=handover)
        finally:
            for task in tasks:
                task.cancel()
            for task in tasks:
                with suppress(asyncio.CancelledError):
                    await task


def delivered(agent: AgentServicer) -> list[NewDelivery]:
    """What the agent was handed over, in order."""
    return list(agent.deliveries.values())


def texts_in(deliveries: Sequence[NewDelivery]) -> list[str]:
    """The texts of the messages in `deliveries`, each of one line, in order."""
    return [line.partition(": ")[2] for one in deliveries for line in one.text.splitlines()[1:]]
