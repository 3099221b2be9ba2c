"""A turn's own time: from Deliver until the model's server has the request, without the wait for lines.

Agent and memory services are processes of their own; the model's server is the demo's, in this process, so
that one clock sees both ends. Before each message all lines that can be built are built. Times are seconds.
"""

import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from aiohttp import web
from aiohttp.typedefs import Handler
from onechat.agent.v1 import agent_service_pb2, agent_service_pb2_grpc, delivery_pb2
from onechat.memory.v1 import memory_service_pb2_grpc, stats_pb2
from onechat_demo.model import DemoModel, Purpose, purpose_of
from onechat_demo.rules import Rules
from onechat_demo.server import ResponsesServer, serving

from bench.baselines import empty_call, median_time, raw_sync_s
from bench.figures import Figure, figure, milliseconds, ratios
from bench.made_log import LOG, data_with
from bench.processes import TIMEOUT_S, ServiceProcess, started
from bench.root_agent import told_with_root
from bench.scale import Scale

TITLE: Final = "A turn's own time"
ABOUT: Final = (
    "From Deliver until the model's server has read the request: p50 of a round's turns. In it lie "
    "three commits (the delivery, the turn's begin, the message in its log) and four calls, one of them "
    "to the model. Every line was built before, so nothing waits for one. Baselines: an empty call "
    "(GetInfo) to the agent service, and a raw write of 4,096 bytes with fsync, both after the turns of "
    "the same round."
)
OWN_TIME_AT_MOST_MS: Final = 50.0
COMMITS: Final = 3
CALLS: Final = 4
LOOK_AGAIN_S: Final = 0.02
_NUMBERS: Final = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    own_s: float  #: p50
    slow_s: float  #: the slowest turn
    accepted_s: float  #: until Deliver was answered, p50
    first_s: float  #: the first turn after the start
    empty_s: float
    raw_s: float


class _Arrivals:
    """When the model's server had read a turn's request."""

    def __init__(self) -> None:
        self._words = ""
        self._came: asyncio.Future[float] = asyncio.get_running_loop().create_future()

    def expect(self, words: str) -> "asyncio.Future[float]":
        """The time at which the first request of a turn that holds `words` is read."""
        self._words, self._came = words, asyncio.get_running_loop().create_future()
        return self._came

    async def note(self, raw: bytes) -> None:
        """A request was read just now."""
        now_s = time.monotonic()
        if self._came.done() or self._words.encode() not in raw:
            return
        if purpose_of(json.loads(raw)) is Purpose.TURN:
            self._came.set_result(now_s)


async def measure(scale: Scale) -> list[Figure]:
    """The figures of one run."""
    return _figures([await _round(scale) for _ in range(scale.rounds)], f"{scale.large_log:,} messages")


def _figures(rounds: Sequence[_Round], log: str) -> list[Figure]:
    own_s = [one.own_s for one in rounds]
    least_s = [COMMITS * one.raw_s + CALLS * one.empty_s for one in rounds]
    return [
        milliseconds("baseline: an empty call", [one.empty_s for one in rounds]),
        milliseconds("baseline: a raw write with fsync", [one.raw_s for one in rounds]),
        milliseconds(f"own time at {log}", own_s, at_most_ms=OWN_TIME_AT_MOST_MS),
        figure(
            f"the same, of {COMMITS} raw writes and {CALLS} empty calls",
            ratios(own_s, least_s),
            "×",
        ),
        milliseconds("of it until Deliver was answered", [one.accepted_s for one in rounds]),
        milliseconds("the slowest turn of a round", [one.slow_s for one in rounds]),
        milliseconds("the first turn after a start", [one.first_s for one in rounds]),
    ]


async def _round(scale: Scale) -> _Round:
    """Fresh services over the large log, one turn to warm up and the measured ones."""
    arrivals = _Arrivals()
    with data_with(scale.large_log) as data:
        async with (
            _model(arrivals) as url,
            started("memory", data) as memory,
            started("agent", data, told_with_root(data, memory, url)) as agent,
        ):
            turns = [await _turn(agent, memory, arrivals) for _ in range(scale.turns + 1)]
            empty_s = await median_time(empty_call(agent.channel), scale.calls)
        raw_s = await asyncio.to_thread(raw_sync_s, scale.calls)
    own_s, accepted_s = ([turn[place] for turn in turns[1:]] for place in (0, 1))
    return _Round(
        own_s=statistics.median(own_s),
        slow_s=max(own_s),
        accepted_s=statistics.median(accepted_s),
        first_s=turns[0][0],
        empty_s=empty_s,
        raw_s=raw_s,
    )


@asynccontextmanager
async def _model(arrivals: _Arrivals) -> AsyncIterator[str]:
    """The demo's server, which tells `arrivals` of each request; its base URL."""

    @web.middleware
    async def noting(request: web.Request, handler: Handler) -> web.StreamResponse:
        await arrivals.note(await request.read())
        return await handler(request)

    rules = Rules(models=None, lacks=frozenset())
    app = ResponsesServer(rules=rules, model=DemoModel(), now=time.time).application()
    app.middlewares.append(noting)
    async with serving(app, 0) as url:
        yield url


async def _turn(agent: ServiceProcess, memory: ServiceProcess, arrivals: _Arrivals) -> tuple[float, float]:
    """(a turn's own time, the time until its delivery was accepted); returns when all is quiet again."""
    number = next(_NUMBERS)
    came = arrivals.expect(words := f"hello number {number}")
    stub: Any = agent_service_pb2_grpc.AgentServiceStub(agent.channel)
    delivery = delivery_pb2.NewDelivery(key=f"benchmark:{number}", text=words, backed=True)
    began = time.monotonic()
    await stub.Deliver(agent_service_pb2.DeliverRequest(deliveries=[delivery]), timeout=TIMEOUT_S)
    accepted_s = time.monotonic() - began
    own_s = await asyncio.wait_for(came, TIMEOUT_S) - began
    await asyncio.wait_for(quiet(stub, memory, delivery.key), TIMEOUT_S)
    return own_s, accepted_s


async def quiet(agent: Any, memory: ServiceProcess, key: str) -> None:
    """Returns once the delivery `key` is done and every line is built."""
    deliveries = agent_service_pb2.ListDeliveriesRequest(key=key)
    stats = stats_pb2.GetLogStatsRequest(log_id=LOG)
    reading: Any = memory_service_pb2_grpc.MemoryServiceStub(memory.channel)
    while True:
        listed = await agent.ListDeliveries(deliveries, timeout=TIMEOUT_S)
        if [one.state for one in listed.deliveries] == [delivery_pb2.DELIVERY_STATE_DONE]:
            found = await reading.GetLogStats(stats, timeout=TIMEOUT_S)
            if not found.ready_nodes and not found.unbuilt_leaves:
                return
        await asyncio.sleep(LOOK_AGAIN_S)
