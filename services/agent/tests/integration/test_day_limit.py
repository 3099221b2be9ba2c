"""An agent whose tokens of the day are used up: its lines wait for tomorrow, and those of no other do."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pytest
from onechat.agent.v1 import agent_service_pb2
from onechat_agent.adapters.memory import Asked, Lease, MemoryClient, Piece
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.limits import Limits
from onechat_agent.domain.usage import Purpose as UsedFor
from onechat_agent.model.items import TokenUsage

from tests.fakes.agent_house import House, living
from tests.fakes.clock import ManualClock
from tests.fakes.compactor_house import CompactorHouse, compacting
from tests.fakes.memory_server import MemoryServer, new_message, remembering
from tests.fakes.scripted_model import FOR_EVER, Answer, Gate, Purpose, Script, ScriptedModel, call

COMPACTION = Purpose.COMPACTION
SHORT = Script(answer=Answer(text="a line"), purpose=COMPACTION, times=FOR_EVER)  # merges need no model then
LIMIT = 1_000_000  # tokens; more than what one test uses
LIMITED = {"one": Limits(tokens_per_day=LIMIT)}
TO_TOMORROW_S = 15 * 3600  # from the clock's nine in the morning, in Rome
STEPS = 60
SOON_S = 30.0
T = TypeVar("T")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def still_memory(tmp_path: Path, clock: ManualClock) -> AsyncIterator[MemoryServer]:
    """A memory by the test's clock: no lease ends by itself before it is turned."""
    async with remembering(tmp_path / "memory", clock) as server:
        yield server


class Watched(MemoryClient):
    """A way to the memory that counts what is handed out and what is given back, by log."""

    def __init__(self, inner: MemoryClient) -> None:
        self._inner = inner
        self.leased: Counter[str] = Counter()  #: pieces
        self.given_back: Counter[str] = Counter()

    async def lease(self, holder: str, pieces: int, wait_s: float) -> Lease:
        lease = await self._inner.lease(holder, pieces, wait_s)
        self.leased[lease.log] += len(lease.pieces)
        return lease

    async def complete(self, lease: Lease, piece: Piece, line: str, builder: str, asked: Asked) -> None:
        await self._inner.complete(lease, piece, line, builder, asked)

    async def fail(self, lease: Lease, piece: Piece, asked: Asked, *, content: bool) -> None:
        self.given_back[lease.log] += 1
        await self._inner.fail(lease, piece, asked, content=content)


class Ways:
    """The ways to the memory that one test's house has taken."""

    def __init__(self) -> None:
        self.way: Watched

    def through(self, client: MemoryClient) -> MemoryClient:
        self.way = Watched(client)
        return self.way


async def remember_nine(house: House) -> None:
    """Puts messages into the root's log, whose lines need a model; one more than are out at once."""
    await waiting(lambda: house.memory.logs(), lambda logs: house.seat.id in logs)
    messages = [new_message(f"n:{number}", "y" * 2_000) for number in range(9)]
    await house.memory.append(*messages, log=house.seat.id)


async def waiting(look: Callable[[], Awaitable[T]], condition: Callable[[T], bool]) -> None:
    """Returns once `condition` holds of what `look` sees; TimeoutError after a while."""
    async with asyncio.timeout(30):
        while not condition(await look()):
            await asyncio.sleep(0.01)


async def turned(clock: ManualClock, seconds: int, until: Callable[[], bool] | None = None) -> bool:
    """Turns the clock on by so much, bit by bit, or until `until` holds; whether it did, or soon after."""
    for _ in range(STEPS):
        clock.advance(seconds / STEPS)
        await asyncio.sleep(0.01)
        if until is not None and until():
            return True
    if until is None:
        return False
    with suppress(TimeoutError):  # what was due by then may still be on its way on a busy machine
        async with asyncio.timeout(SOON_S):
            while not until():
                await asyncio.sleep(0.01)
    return until()


async def use(house: CompactorHouse, log: str, tokens: int) -> None:
    await house.usage.record_alone(AgentId(log), "demo", UsedFor.TURN, TokenUsage(input=tokens))


async def test_an_agent_whose_day_is_used_up_slows_no_other_and_has_its_lines_tomorrow(
    tmp_path: Path, still_memory: MemoryServer, model: ScriptedModel, clock: ManualClock
) -> None:
    """The clock stands still, so a pause of any length would hold the other log for ever."""
    ways = Ways()
    model.script(SHORT)
    async with compacting(
        tmp_path, still_memory, model, clock=clock, through=ways.through, limits=LIMITED
    ) as house:
        await use(house, "one", 2 * LIMIT)
        await house.remember("one", 9)
        await house.until(lambda: ways.way.leased["one"] >= 8)
        await house.remember("two", 20)
        await house.unbuilt("two")
        assert not house.requests("one")
        assert (ways.way.leased["one"], ways.way.given_back.total()) == (8, 0), "it comes again and again"

        clock.advance(TO_TOMORROW_S)
        await house.turned("one", clock)  # a piece may be taken up for another pause only after that


async def test_lines_are_built_to_twice_the_days_limit(
    tmp_path: Path, still_memory: MemoryServer, model: ScriptedModel, clock: ManualClock
) -> None:
    """Else the first turn of the next day would wait for all of them."""
    async with compacting(tmp_path, still_memory, model, clock=clock, limits=LIMITED) as house:
        await use(house, "one", 2 * LIMIT - 1)
        await house.remember("one")
        await house.unbuilt("one")


async def test_pieces_whose_agent_used_up_its_day_since_their_lease_are_not_asked_for(
    tmp_path: Path, still_memory: MemoryServer, model: ScriptedModel, clock: ManualClock
) -> None:
    """Seven wait until the first has read the prefix, and what it uses may be the last of the day."""
    ways, before = Ways(), Gate()
    model.script(Script(answer=Answer(text="a line"), gate=before, purpose=COMPACTION), SHORT)
    async with compacting(
        tmp_path, still_memory, model, clock=clock, through=ways.through, limits=LIMITED
    ) as house:
        await house.remember("one", 8)
        await before.reached()
        await use(house, "one", 2 * LIMIT)
        before.open()
        await house.unbuilt("one", leaves=7)
        await house.remember("two", 5)
        await house.unbuilt("two")
        assert (len(house.requests("one")), ways.way.given_back.total()) == (1, 0)

        clock.advance(TO_TOMORROW_S)
        await house.turned("one", clock)  # it may begin a pause only after that


async def test_a_raised_limit_counts_from_the_next_start_on(
    tmp_path: Path, still_memory: MemoryServer, model: ScriptedModel, clock: ManualClock
) -> None:
    """As the sentence to the user says; another holder has the pieces at once."""
    ways = Ways()
    async with compacting(
        tmp_path, still_memory, model, clock=clock, through=ways.through, limits=LIMITED
    ) as house:
        await use(house, "one", 2 * LIMIT)
        await house.remember("one")
        await house.until(lambda: ways.way.leased["one"] == 1)

    async with compacting(tmp_path, still_memory, model, clock=clock) as house:
        await house.unbuilt("one")


async def test_a_turn_that_waits_for_lines_of_tomorrow_says_so_once_and_goes_on_then(
    tmp_path: Path, still_memory: MemoryServer, model: ScriptedModel, clock: ManualClock
) -> None:
    before = Gate()
    model.script(Script(answer=Answer(text="a line"), gate=before, purpose=COMPACTION), SHORT)
    limits = Limits(tokens_per_day=1)
    async with living(tmp_path, still_memory, model, clock=clock, limits=limits) as house:
        await remember_nine(house)
        await before.reached()
        await house.deliver("hello")
        agents = agent_service_pb2.ListAgentsRequest()
        await waiting(
            lambda: house.stub().ListAgents(agents, timeout=20), lambda seen: seen.agents[0].doing != "idle"
        )
        before.open()  # the ninth line is leased when another one is there, and with it the day is used up
        assert await turned(clock, 60 * 60, until=lambda: bool(house.seen.notices()))
        await turned(clock, 60 * 60)
        assert [text for text in house.seen.notices() if "Today's limit" in text] == house.seen.notices()
        assert (len(house.seen.notices()), house.seen.ends()) == (1, [])
        assert (await still_memory.stats(house.seat.id)).unbuilt_leaves == 1

        assert await turned(clock, TO_TOMORROW_S, until=lambda: bool(house.seen.ends()))
        assert (await still_memory.stats(house.seat.id)).unbuilt_leaves == 0


async def test_a_limit_that_a_turn_meets_is_told_by_that_turn_alone(
    tmp_path: Path, still_memory: MemoryServer, model: ScriptedModel, clock: ManualClock
) -> None:
    """One message a day: what is said next waits without another word, and so it does after a restart."""
    model.say(Answer(calls=(call("date", id=0),)), "never asked")
    limits = Limits(tokens_per_day=1)
    async with living(tmp_path, still_memory, model, clock=clock, limits=limits) as house:
        await house.say("hello")
        await house.deliver("more")
        await _held(house)
    async with living(tmp_path, still_memory, model, clock=clock, limits=limits, after=0) as house:
        await _held(house)

        assert len([reply for reply in house.seen.replies() if "Today's limit" in reply]) == 1
        assert house.seen.notices() == []
        assert len(model.requests(Purpose.TURN)) == 1


async def _held(house: House) -> None:
    """Returns once the agent says that it waits for tomorrow."""
    agents = agent_service_pb2.ListAgentsRequest()
    await waiting(
        lambda: house.stub().ListAgents(agents, timeout=20),
        lambda seen: "tomorrow" in seen.agents[0].doing,
    )
