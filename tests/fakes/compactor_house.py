"""The compactor alone over a real memory service and a scripted model, for as many logs as a test wants.

It is not a double: what builds lines here is what runs. Two of them one after the other are a restart. Logs
are told apart in the requests by their messages, which begin with their log's id. Times are seconds.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from zoneinfo import ZoneInfo

from onechat_agent.__main__ import MIGRATIONS, NAME
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.compactor import Compactor
from onechat_agent.day_limit import DayLimit
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.limits import Limits
from onechat_agent.events import Events, open_stream
from onechat_agent.model.call import ModelClient
from onechat_agent.model.endpoint import Endpoint
from onechat_agent.model.items import ModelAnswer, ModelRequest
from onechat_agent.patience import Patience
from onechat_agent.proposals import Proposals
from onechat_agent.queue import Queue
from onechat_agent.root_folder import open_root
from onechat_agent.seating import Seating
from onechat_agent.telling import Telling
from onechat_agent.usage_book import UsageBook
from onechat_agent.wiring import DEMO_MODEL, ModelAtHand
from onechat_runtime.clock import Clock, SystemClock
from onechat_runtime.health import HealthBoard
from onechat_runtime.store import migrations_in

from tests.fakes.agent_house import settings_in
from tests.fakes.clock import ManualClock
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import Purpose, Record, ScriptedModel
from tests.fakes.stores import store_at

ZONE = "Europe/Rome"
WITHIN_S = 30.0
LEAF_BYTES = 700  # over what a line may have, so that each message needs a model


class CountedModel:
    """The model's client, which counts the calls that are on their way."""

    def __init__(self, client: ModelClient) -> None:
        self._client = client
        self._now: Counter[str] = Counter()  # by cache key
        self.most: Counter[str] = Counter()  #: calls at once, by cache key
        self.most_of_all = 0

    @property
    def on_their_way(self) -> int:
        """How many calls are made right now."""
        return self._now.total()

    async def respond(
        self,
        request: ModelRequest,
        on_text: Callable[[int, str], None],
        on_start: Callable[[], None] = lambda: None,
    ) -> ModelAnswer:
        """As the client does."""
        self._now[request.cache_key] += 1
        self.most |= self._now
        self.most_of_all = max(self.most_of_all, self._now.total())
        try:
            return await self._client.respond(request, on_text, on_start)
        finally:
            self._now[request.cache_key] -= 1


class CompactorHouse:
    """A compactor at work, and short ways to give it some."""

    def __init__(self, memory: MemoryServer, scripted: ScriptedModel, counted: CountedModel) -> None:
        self.memory = memory
        self.scripted = scripted
        self.counted = counted
        self.compactor: Compactor
        self.usage: UsageBook

    async def remember(self, log: str, messages: int = 1, text: str = "") -> None:
        """Appends messages whose lines need a model; each text begins with the log's id."""
        await self.memory.append(*[f"{log} {text} {'x' * LEAF_BYTES}"] * messages, log=log)

    def requests(self, log: str = "") -> list[Record]:
        """What was asked for the leaves of `log`, or of all logs."""
        asked = self.scripted.requests(Purpose.COMPACTION)
        return [record for record in asked if not log or f"user: {log} ".encode() in record.raw]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Returns once `condition` holds; TimeoutError after a while."""
        async with asyncio.timeout(WITHIN_S):
            while not condition():
                await asyncio.sleep(0.01)

    async def asked(self, count: int, log: str = "") -> list[Record]:
        """The requests once `count` of them have come, for `log` or for all."""
        await self.until(lambda: len(self.requests(log)) >= count)
        return self.requests(log)

    async def unbuilt(self, log: str, leaves: int = 0) -> None:
        """Returns once so few leaves of `log` are unbuilt and nothing else of it is ready."""
        async with asyncio.timeout(WITHIN_S):
            while not await self._is_built(log, leaves):
                await asyncio.sleep(0.01)

    async def failing(self, log: str, nodes: int) -> None:
        """Returns once so many nodes of `log` have failed and are not built."""
        async with asyncio.timeout(WITHIN_S):
            while (await self.memory.stats(log)).failing_nodes != nodes:
                await asyncio.sleep(0.01)

    async def turned(self, log: str, *clocks: ManualClock) -> None:
        """Turns the clocks on while no call is on its way, until all of `log` is built."""
        async with asyncio.timeout(2 * WITHIN_S):
            while not await self._is_built(log, 0):
                if not self.counted.on_their_way:
                    for clock in clocks:
                        clock.advance(1)
                await asyncio.sleep(0.02)

    async def _is_built(self, log: str, leaves: int) -> bool:
        stats = await self.memory.stats(log)
        return stats.unbuilt_leaves <= leaves and stats.ready_nodes <= leaves


@asynccontextmanager
async def compacting(
    folder: Path,
    memory: MemoryServer,
    scripted: ScriptedModel,
    *,
    logs: Sequence[str] = ("one", "two"),
    clock: Clock | None = None,
    through: Callable[[MemoryClient], MemoryClient] = lambda client: client,
    limits: Mapping[str, Limits] = MappingProxyType({}),
) -> AsyncIterator[CompactorHouse]:
    """A compactor for `logs`, which are made where they are not there; it ends with the block.

    It reaches the memory `through` a client. `limits`: of the logs that have others than usual.
    """
    settings, board, clock = settings_in(folder), HealthBoard(), clock or SystemClock()
    for log in logs:
        await memory.create(log)
    async with store_at(
        settings.data / NAME / "store.db",
        component=NAME,
        migrations=migrations_in(MIGRATIONS),
        clock=clock,
        board=board,
    ) as store:
        root = await open_root(store, clock, settings.agents_folder, settings.name)
        client = ModelClient(Endpoint.of(url=scripted.base_url, api_key=None))
        await client.warm_up()
        reader = through(MemoryClient(memory.loopback.channel("agent"), ZONE))
        at_hand = ModelAtHand(client=client, model=DEMO_MODEL, compact_model=DEMO_MODEL)
        events = Events(store, clock, await store.write(open_stream))
        seating = Seating(
            settings=settings,
            proposals=Proposals(store, clock, events, Queue(store, clock, events, root.id)),
            store=store,
            model=at_hand,
            memory=reader,
            clock=clock,
            zone=ZONE,
            board=board,
        )
        seat = seating.root(root)
        house = CompactorHouse(memory, scripted, CountedModel(client))
        house.usage = UsageBook(store, clock, ZoneInfo(ZONE), {})
        telling = Telling(store, events, clock, board)
        house.compactor = Compactor(
            memory=reader,
            model=house.counted,
            seats={
                AgentId(log): replace(seat, id=AgentId(log), name=log, limits=limits.get(log, seat.limits))
                for log in logs
            },
            usage=house.usage,
            telling=telling,
            day=DayLimit(store, clock, house.usage, telling),
            patience=Patience(clock, random.Random(7)),
            clock=clock,
        )
        running = asyncio.ensure_future(house.compactor.run())
        try:
            yield house
        finally:
            running.cancel()
            ended = (await asyncio.gather(running, return_exceptions=True))[0]
            await client.close()
            if isinstance(ended, Exception):
                raise ended
