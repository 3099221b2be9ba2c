"""Group chats on a store of their own, with a platform, agents and a clock that a test turns."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from zoneinfo import ZoneInfo

from onechat_runtime.outbox import Outbox
from onechat_runtime.store import Store, migrations_in
from onechat_telegram.groups import batch_rows
from onechat_telegram.groups.deliveries import Deliveries
from onechat_telegram.groups.domain.ids import ChatId
from onechat_telegram.groups.domain.settings import GroupSettings
from onechat_telegram.groups.wiring import GroupChats, opened_group_chats

from tests.fakes.clock import ManualClock
from tests.fakes.group_agents import GroupAgentsInMemory, OwnerInMemory
from tests.fakes.group_platform import Platform, PlatformAdapter
from tests.fakes.stores import store_at

ROME = ZoneInfo("Europe/Rome")
WITHIN_S = 60.0
LOOK_S = 0.005


class GroupBench:
    """What outlives a process: the platform, the agent service, the owner, the folder of the store."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "store.db"
        self.clock = ManualClock()
        self.platform = Platform(self.clock.now)
        self.agents = GroupAgentsInMemory()
        self.owner = OwnerInMemory()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["RunningGroups"]:
        """A process with all that it does in the background; it ends as if killed."""
        migrations = migrations_in("onechat_telegram.migrations")
        async with store_at(
            self.path, component="telegram", migrations=migrations, clock=self.clock
        ) as store:
            running = RunningGroups(self, store)
            works = [running.outbox.run, *running.chats.background]
            tasks = [asyncio.ensure_future(work()) for work in works]
            try:
                yield running
            finally:
                for task in tasks:
                    task.cancel()
                ended = await asyncio.gather(*tasks, return_exceptions=True)
            assert [error for error in ended if not isinstance(error, asyncio.CancelledError)] == []


class RunningGroups:
    """One process."""

    def __init__(self, bench: GroupBench, store: Store) -> None:
        self.bench = bench
        self.store = store
        self.adapter = PlatformAdapter(bench.platform, lambda: bench.agents.step())
        senders = Deliveries(bench.agents, self.adapter).senders
        self.outbox = Outbox(store, bench.clock, random.Random(1), senders)
        self.chats: GroupChats = opened_group_chats(
            self.adapter,
            bench.agents,
            bench.owner,
            store,
            self.outbox,
            clock=bench.clock,
            zone=ROME,
        )

    async def admit(self, chat: ChatId, settings: GroupSettings | None = None) -> None:
        """The owner adds the bot to a group, says yes, and sets it."""
        self.bench.platform.add_bot(chat, "olga", by_owner=True)
        await self.settled()
        await self.chats.admission.answer(chat, yes=True)
        if settings is not None:
            await self.chats.admission.set(chat, settings)

    async def settled(self) -> None:
        """Return once all that was said is taken and handed over, open batches apart."""
        async with asyncio.timeout(WITHIN_S):
            while self.bench.platform.not_taken or self.outbox.waiting():
                await asyncio.sleep(LOOK_S)

    async def quiet(self, seconds: float = 20.0) -> None:
        """So many seconds pass, and what is due by then is handed over."""
        await self.settled()
        async with asyncio.timeout(WITHIN_S):
            while self.store.read(batch_rows.batches) and not self.bench.clock.sleepers:
                await asyncio.sleep(LOOK_S)
            self.bench.clock.advance(seconds)
            while self.store.read(batch_rows.batches):
                await asyncio.sleep(LOOK_S)
        await self.settled()
