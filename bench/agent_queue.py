"""Deliveries at a steady rate for five agents: whether the queue drains, and what the processes take.

Agent and memory services are processes of their own, the model's server is the demo's in this process. Memory
is resident pages, in units of 1,000,000 bytes. Times are seconds.
"""

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import psutil  # type: ignore[import-untyped]
from onechat.agent.v1 import agent_service_pb2, agent_service_pb2_grpc, delivery_pb2
from onechat_agent.adapters import agent_folder
from onechat_agent.domain.chat import AgentId
from onechat_runtime.errors import RemoteError, retriable

from bench.figures import Figure, figure, milliseconds
from bench.made_log import LOG
from bench.model_server import NotedModel, noted_model
from bench.processes import TIMEOUT_S, ServiceProcess, started
from bench.root_agent import lift_the_days_limit, told_with_root
from bench.scale import Scale

TITLE: Final = "A hundred deliveries a second for five agents"
ABOUT: Final = (
    "The root and four children get messages of the user in turn, one a call, for a minute. Before it they "
    "got as many for a minute and a half, so that views and caches have their size. Each takes all that "
    "waits for it into one turn; the demo model answers at once. The queue is what is not done, over all "
    "agents, looked at once a second. Memory is RSS: after a third of the minute, and when all is done; "
    "between the two it should not grow. One run."
)
RATE: Final = 100.0  # deliveries a second
WARM_UP: Final = 1.5  # so many times as long as what is measured
CHILDREN: Final = ("House", "Garden", "Calendar", "Papers")
LOOK_S: Final = 1.0
DELIVER_S: Final = 10.0  # the contract's deadline
LOOK_AGAIN_S: Final = 0.05  # whether all is done
DRAINED_WITHIN_S: Final = 600.0
DRAINED_AT_MOST_S: Final = 10.0
GROWTH_AT_MOST: Final = 1.1
MB: Final = 1_000_000
_SEED: Final = 7


@dataclass(slots=True)
class _Seen:
    """What was looked at on the way."""

    accepted_s: list[float] = field(default_factory=list)  #: how long each Deliver took
    waiting: list[tuple[float, int]] = field(default_factory=list)  #: (when, deliveries that are not done)
    sizes: list[tuple[float, float, float]] = field(default_factory=list)  #: (when, agent MB, memory MB)


async def measure(scale: Scale) -> list[Figure]:
    """The figures of one run."""
    with tempfile.TemporaryDirectory(prefix="onechat-bench-") as folder:
        data = Path(folder) / "data"
        data.mkdir()
        async with noted_model() as model, started("memory", data) as memory:
            told = told_with_root(data, memory, model.url)
            ids = [LOG, *(_make_child(data, name) for name in CHILDREN)]
            lift_the_days_limit(data)
            async with started("agent", data, told) as agent:
                return await _flooded(agent, memory, model, ids, scale.flood_s)


def _make_child(data: Path, name: str) -> str:
    """A child's folder, which the service takes in at its start; its id."""
    agent = AgentId(f"benchmark-{name.lower()}")
    agent_folder.make(data / "agents", name, agent, area=f"what concerns {name}")
    return agent


async def _flooded(
    agent: ServiceProcess, memory: ServiceProcess, model: NotedModel, ids: Sequence[str], flood_s: float
) -> list[Figure]:
    stub: Any = agent_service_pb2_grpc.AgentServiceStub(agent.channel)
    await _flood(stub, ids, "warm-up", _wanted(ids, WARM_UP * flood_s), _Seen())
    await asyncio.wait_for(_drained(stub), DRAINED_WITHIN_S)
    asked_before, seen, began_s = model.asked, _Seen(), time.monotonic()
    idle_cpu = _cpu_ms(agent), _cpu_ms(memory)
    looking = asyncio.create_task(_look(stub, agent, memory, seen, began_s))
    try:
        wanted = _wanted(ids, flood_s)
        await _flood(stub, ids, "measured", wanted, seen)
        ended_s = time.monotonic()
        drained_s = await asyncio.wait_for(_drained(stub), DRAINED_WITHIN_S) - ended_s
    finally:
        looking.cancel()
    third = next((one for one in seen.sizes if one[0] >= flood_s / 3), seen.sizes[-1])
    last = _sizes(agent, memory, began_s)
    cpu = [
        (now - before) / wanted
        for now, before in zip((_cpu_ms(agent), _cpu_ms(memory)), idle_cpu, strict=True)
    ]
    return [
        figure("deliveries", [wanted], ""),
        figure("accepted a second", [wanted / (ended_s - began_s)], "/s", at_least=RATE * 0.95),
        milliseconds("until Deliver was answered, p50", [statistics.median(seen.accepted_s)]),
        milliseconds("the same, p99", [statistics.quantiles(seen.accepted_s, n=100)[98]]),
        figure("the longest queue", [max((one for _, one in seen.waiting), default=0)], ""),
        figure("all done after the last", [drained_s], "s", at_most=DRAINED_AT_MOST_S),
        figure("questions to the model", [model.asked - asked_before], ""),
        figure("agent: processor time a delivery, all in all", [cpu[0]], "ms"),
        figure("memory: processor time a delivery, all in all", [cpu[1]], "ms"),
        figure("agent, after a third: RSS", [third[1]], "MB"),
        figure("agent, at the end: RSS", [last[1]], "MB"),
        figure("agent, the end of a third", [last[1] / third[1]], "×", at_most=GROWTH_AT_MOST),
        figure("memory, after a third: RSS", [third[2]], "MB"),
        figure("memory, at the end: RSS", [last[2]], "MB"),
        figure("memory, the end of a third", [last[2] / third[2]], "×", at_most=GROWTH_AT_MOST),
    ]


def _wanted(ids: Sequence[str], flood_s: float) -> int:
    """How many deliveries a flood has; each gets one at least."""
    return max(len(ids), round(RATE * flood_s))


async def _flood(stub: Any, ids: Sequence[str], called: str, wanted: int, seen: _Seen) -> None:
    """Hand over `wanted` deliveries, each at its own time, whether those before are answered or not."""
    rng, to, began_s = random.Random(_SEED), cycle(ids), time.monotonic()
    async with asyncio.TaskGroup() as calls:
        for number in range(wanted):
            await asyncio.sleep(max(0.0, began_s + number / RATE - time.monotonic()))
            text = f"I tell you that number {number} is {rng.randrange(10**9)}"
            calls.create_task(_deliver(stub, next(to), f"benchmark:{called}:{number}", text, seen))


async def _deliver(stub: Any, to: str, key: str, text: str, seen: _Seen) -> None:
    """Hand one over as a gateway does, again where no answer comes in time."""
    delivery = delivery_pb2.NewDelivery(key=key, to=to, text=text, backed=True)
    request, began_s, accepted = (
        agent_service_pb2.DeliverRequest(deliveries=[delivery]),
        time.monotonic(),
        False,
    )
    while not accepted:
        try:
            await stub.Deliver(request, timeout=DELIVER_S)
            accepted = True
        except RemoteError as error:
            if not retriable(error.code):
                raise
    seen.accepted_s.append(time.monotonic() - began_s)


async def _drained(stub: Any) -> float:
    """Return when nothing waits any more; the time at which it did not."""
    while await _waiting(stub):  # noqa: ASYNC110 - it is another process that knows
        await asyncio.sleep(LOOK_AGAIN_S)
    return time.monotonic()


async def _waiting(stub: Any) -> int:
    answer = await stub.ListAgents(agent_service_pb2.ListAgentsRequest(), timeout=TIMEOUT_S)
    return sum(one.waiting for one in answer.agents)


async def _look(
    stub: Any, agent: ServiceProcess, memory: ServiceProcess, seen: _Seen, began_s: float
) -> None:
    while True:
        seen.sizes.append(_sizes(agent, memory, began_s))
        seen.waiting.append((time.monotonic() - began_s, await _waiting(stub)))
        await asyncio.sleep(LOOK_S)


def _sizes(agent: ServiceProcess, memory: ServiceProcess, began_s: float) -> tuple[float, float, float]:
    """(seconds since `began_s`, the agent's RSS, the memory's)"""
    mine, theirs = (psutil.Process(one.pid).memory_info().rss / MB for one in (agent, memory))
    return time.monotonic() - began_s, mine, theirs


def _cpu_ms(service: ServiceProcess) -> float:
    """Processor time that its process has taken so far."""
    taken = psutil.Process(service.pid).cpu_times()
    return 1000 * float(taken.user + taken.system)
