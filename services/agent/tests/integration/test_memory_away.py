"""A memory service that is away at every step of a turn: it is waited for, and nothing is lost or doubled."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

import grpc
import pytest
from onechat.agent.v1 import agent_service_pb2, event_pb2
from onechat_agent import sentences
from onechat_agent.adapters.memory import APPEND_BYTES, APPEND_MAX, Asked, Lease, MemoryClient, Piece
from onechat_agent.domain.chat import AgentId, Kind, Message, NewMessage, View
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_house import House, living
from tests.fakes.clock import ManualClock
from tests.fakes.memory_server import LOG, MORNING, MemoryServer
from tests.fakes.scripted_model import Answer, ScriptedModel, call

T = TypeVar("T")
STATES = event_pb2.TurnChange


class Failing(MemoryClient):
    """A way to the memory on which each call fails twice: once before it, once after, its answer lost."""

    def __init__(self, inner: MemoryClient) -> None:
        self._inner = inner
        self._tries: Counter[str] = Counter()
        self.gone = False  #: whether nothing gets through at all

    async def _call(self, name: str, make: Callable[[], Awaitable[T]], *, lost: bool = True) -> T:
        self._tries[name] += 1
        turn = self._tries[name] % (3 if lost else 2)
        if self.gone or turn == 1:
            raise RemoteError(grpc.StatusCode.UNAVAILABLE)
        answer = await make()
        if turn == 2:
            raise RemoteError(grpc.StatusCode.DEADLINE_EXCEEDED)
        return answer

    async def create_log(self, log: AgentId, label: str) -> None:
        await self._call("create", lambda: self._inner.create_log(log, label))

    async def append(self, log: AgentId, messages: Sequence[NewMessage]) -> int:
        return await self._call("append", lambda: self._inner.append(log, messages))

    async def view(self, log: AgentId, wait_s: float) -> View:
        return await self._call("view", lambda: self._inner.view(log, wait_s))

    async def messages(self, log: AgentId, start: int) -> AsyncIterator[Message]:
        async def read() -> list[Message]:
            return [message async for message in self._inner.messages(log, start)]

        for message in await self._call("messages", read):
            yield message

    async def lease(self, holder: str, pieces: int, wait_s: float) -> Lease:
        # A lease whose answer is lost ends by itself after two minutes: nothing that a test waits for.
        return await self._call("lease", lambda: self._inner.lease(holder, pieces, wait_s), lost=False)

    async def complete(self, lease: Lease, piece: Piece, line: str, builder: str, asked: Asked) -> None:
        await self._call("complete", lambda: self._inner.complete(lease, piece, line, builder, asked))


async def turning(clock: ManualClock, house: House, key: str) -> event_pb2.TurnChange:
    """Turns the clock until the turn with `key` is over."""
    return await turning_until(clock, asyncio.ensure_future(house.ended(key)))


async def turning_until(clock: ManualClock, awaited: "asyncio.Future[T]") -> T:
    """Turns the clock until `awaited` is there."""
    while not awaited.done():
        clock.advance(5)
        await asyncio.wait({awaited}, timeout=0.02)
    return awaited.result()


async def test_each_call_that_fails_before_or_after_it_was_made_is_made_again(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    clock = ManualClock()
    model.say(Answer(text="I look.", calls=(call("shell", command="echo found"),)), "done " * 300, "and done")
    async with living(tmp_path, memory, model, clock=clock, through=Failing) as house:
        await turning(clock, house, await house.deliver("look"))
        end = await turning(clock, house, await house.deliver("again"))

        assert end.state == STATES.STATE_ENDED
        lines = await house.lines()
        assert [line.split(":")[0] for line in lines] == [
            *("user", "reply", "tool", "echo", "reply"),
            *("user", "reply"),
        ]
        assert house.seen.replies()[-1] == "and done"


async def test_a_turn_that_was_interrupted_while_the_memory_is_away_is_taken_up_once_it_is_back(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    gate = model.hold(answer=Answer(text="never sent"))
    async with living(tmp_path, memory, model) as house:
        key = await house.deliver("hello")
        await gate.reached()
    model.say("here")
    clock = ManualClock()

    async with living(tmp_path, memory, model, clock=clock, through=Failing, after=0) as house:
        assert (await turning(clock, house, key)).state == STATES.STATE_ENDED
        assert await house.lines() == ["user: hello", "reply: here"]


async def test_a_stop_is_answered_while_the_memory_is_away_and_carried_out_once_it_is_back(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    clock = ManualClock()
    ways: list[Failing] = []

    def through(client: MemoryClient) -> MemoryClient:
        ways.append(Failing(client))
        return ways[-1]

    gate = model.hold(answer=Answer(text="never sent"))
    async with living(tmp_path, memory, model, clock=clock, through=through) as house:
        key = await house.deliver("hello")
        reached = asyncio.ensure_future(gate.reached())
        while not reached.done():
            clock.advance(5)
            await asyncio.wait({reached}, timeout=0.02)
        ways[0].gone = True
        answer = await house.stub().StopTurn(agent_service_pb2.StopTurnRequest(), timeout=20)
        assert list(answer.stopped) == ["One"]
        ways[0].gone = False

        assert (await turning(clock, house, key)).state == STATES.STATE_STOPPED
        assert await house.lines() == ["user: hello"]


@pytest.mark.parametrize(("count", "size"), [(APPEND_MAX + 1, 10), (5, APPEND_BYTES // 3)])
async def test_more_than_one_call_carries_is_appended_in_several(
    memory: MemoryServer, count: int, size: int
) -> None:
    """A call that is too large is refused as if the service were full: it would be made again for ever."""
    await memory.create()
    client = MemoryClient(memory.loopback.channel("agent"), "Europe/Rome")
    messages = [
        NewMessage(key=f"k{number}", kind=Kind.USER, text="z" * size, time=MORNING) for number in range(count)
    ]

    length = await client.append(AgentId(LOG), messages)

    assert length == (await memory.stats()).log.length
    assert length >= count


async def test_a_memory_that_is_away_for_a_minute_is_told_once_until_it_is_back(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """The user would otherwise see an agent at work for as long as it takes."""
    clock = ManualClock()
    ways: list[Failing] = []

    def through(client: MemoryClient) -> MemoryClient:
        ways.append(Failing(client))
        return ways[-1]

    told: list[int] = []
    async with living(tmp_path, memory, model, clock=clock, through=through) as house:
        await turning(clock, house, await house.deliver("one"))
        for _ in range(2):
            ways[0].gone = True
            key = await house.deliver("hello")
            for _ in range(10):
                clock.advance(5)
                await asyncio.sleep(0)
            told.append(len(house.seen.notices()))
            heard = asyncio.ensure_future(house.seen.until(lambda seen: len(seen.notices()) > len(told) - 1))
            for _ in range(200):  # 1,000 seconds, or more until it is heard
                clock.advance(5)
                await asyncio.wait({heard}, timeout=0.01)
            await turning_until(clock, heard)
            ways[0].gone = False
            assert (await turning(clock, house, key)).state == STATES.STATE_ENDED

        assert told == [0, 1]
        assert house.seen.notices() == [sentences.MEMORY_AWAY] * 2
