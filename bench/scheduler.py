"""What the scheduler costs with many schedules and with one: start, memory, rest, calls; and how late it is.

Services are processes of their own, the agent they hand over to is in this process and takes everything at
once. Memory is resident pages, in units of 1,000,000 bytes; processor time is the kernel's, to a nanosecond.
Linux only. Times are seconds.
"""

import asyncio
import shutil
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil  # type: ignore[import-untyped]
from onechat_runtime.tokens import ensure_tokens

from bench.baselines import empty_call, time_of
from bench.figures import Figure, figure, milliseconds, ratio
from bench.idle import MB, counts
from bench.made_schedules import (
    OTHER_ZONE,
    OWNERS,
    ZONE,
    come_due,
    list_call,
    make,
    one_time_ids,
    remove_call,
    set_call,
)
from bench.noted_agent import NotedAgent, noted_agent
from bench.processes import ServiceProcess, bare_python, python_s, started
from bench.scale import Scale

TITLE: Final = "The scheduler with many schedules"
ABOUT: Final = (
    "Half of the schedules have a time in the next years, half an expression; those of four agents. A start "
    "is from exec until a health check answers SERVING; its baseline is a bare Python that imports what the "
    "service imports. Two services, with many and with one schedule, rest beside each other; what many take "
    "more is the difference. Calls of all kinds take turns, p50 of a round's; an empty call is GetInfo to "
    "the same process, and a list is the first page, of a hundred. Lateness is from the due instant until "
    "the agent is called, the schedules due a quarter of a second apart; then all with a time are due at "
    "once."
)
IMPORTS: Final = "import onechat_scheduler.__main__, uvloop"
START_AT_MOST_MS: Final = 1_000.0
RSS_AT_MOST_MB: Final = 80.0
MORE_AT_MOST: Final = 0.1  # % of one core
WAKES_AT_MOST: Final = 5.0  # a second; those of gRPC's own threads come and go by as many
CALL_AT_MOST: Final = 5.0  # × an empty call
LATE_AT_MOST_MS: Final = 1_000.0
AHEAD_S: Final = 2.0  # from its start until the first is due
GAP_S: Final = 0.25
CAME_WITHIN_S: Final = 60.0
LOOK_S: Final = 0.01
CRON: Final = "30 8 * * 1-5"
KINDS: Final = ("an empty call", "set, by a time", "set, by an expression", "list", "remove")
_NANOSECONDS: Final = 1e9
IMPORTED: Final = "baseline: a bare Python imports the service"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rest:
    """What a process took over a while in which nothing was asked of it."""

    percent: float  #: of one core
    wakes: float  #: a second


async def measure(scale: Scale) -> list[Figure]:
    """The figures of one run."""
    with tempfile.TemporaryDirectory(prefix="onechat-bench-") as folder:
        one, many = Path(folder) / "one", Path(folder) / "many"
        one.mkdir()
        ensure_tokens(one)
        shutil.copytree(one, many)
        async with noted_agent(one) as agent:
            for data, wanted in ((one, 1), (many, scale.schedules)):
                async with _scheduler(data, agent) as scheduler:
                    await make(scheduler.channel, wanted)
            return [
                *await _starts(one, many, agent, scale),
                *await _rest_and_calls(one, many, agent, scale),
                *await _lateness(many, agent, scale),
                *await _all_at_once(many, agent, scale),
            ]


@asynccontextmanager
async def _scheduler(data: Path, agent: NotedAgent, zone: str = ZONE) -> AsyncIterator[ServiceProcess]:
    told = {"ONECHAT_AGENT_ADDRESS": agent.address, "ONECHAT_TIME_ZONE": zone}
    async with started("scheduler", data, told) as scheduler:
        yield scheduler


async def _starts(one: Path, many: Path, agent: NotedAgent, scale: Scale) -> list[Figure]:
    imports: list[float] = []
    taken: list[list[float]] = [[], [], []]
    for _ in range(scale.rounds):
        imports.append(await python_s(IMPORTS, one))
        for times, data, zone in zip(taken, (one, many, many), (ZONE, ZONE, OTHER_ZONE), strict=True):
            async with _scheduler(data, agent, zone) as scheduler:
                times.append(scheduler.serving_s)
        async with _scheduler(many, agent):
            pass  # its zone is the first one again
    few_s, many_s, moved_s = taken
    return [
        milliseconds(IMPORTED, imports),
        milliseconds("start with 1 schedule", few_s),
        milliseconds(f"start with {scale.schedules:,}", many_s, at_most_ms=START_AT_MOST_MS),
        ratio("the same, of that with 1", many_s, few_s),
        milliseconds("the same, when the user's zone has changed", moved_s),
    ]


async def _rest_and_calls(one: Path, many: Path, agent: NotedAgent, scale: Scale) -> list[Figure]:
    async with (
        bare_python("grpc.aio", one) as bare,
        _scheduler(one, agent) as few_service,
        _scheduler(many, agent) as service,
    ):
        await asyncio.sleep(scale.settle_s)
        sizes = [_rss_mb(pid) for pid in (bare, few_service.pid, service.pid)]
        rests = [await _rests([few_service.pid, service.pid], scale.idle_s) for _ in range(scale.rounds)]
        calls = [await _calls(service, scale.calls) for _ in range(scale.rounds)]
        after = _rss_mb(service.pid)
    return [
        figure("baseline: a bare Python with grpc: RSS", [sizes[0]], "MB"),
        figure("with 1 schedule: RSS", [sizes[1]], "MB"),
        figure(f"with {scale.schedules:,}: RSS", [sizes[2]], "MB", at_most=RSS_AT_MOST_MB),
        figure("the same, after all the calls below", [after], "MB", at_most=RSS_AT_MOST_MB),
        *_rest_figures(rests, scale),
        *_call_figures(calls),
    ]


def _rest_figures(rests: Sequence[Sequence[_Rest]], scale: Scale) -> list[Figure]:
    few, many = ([span[place] for span in rests] for place in (0, 1))
    pairs = list(zip(few, many, strict=True))
    more = [max(0.0, of_many.percent - of_one.percent) for of_one, of_many in pairs]
    more_wakes = [max(0.0, of_many.wakes - of_one.wakes) for of_one, of_many in pairs]
    return [
        figure("at rest with 1: processor", [one.percent for one in few], "%"),
        figure(f"at rest with {scale.schedules:,}: processor", [one.percent for one in many], "%"),
        figure("what they take more", more, "%", at_most=MORE_AT_MOST),
        figure("at rest with 1: wakes", [one.wakes for one in few], "a second"),
        figure(f"at rest with {scale.schedules:,}: wakes", [one.wakes for one in many], "a second"),
        figure("what they wake more", more_wakes, "a second", at_most=WAKES_AT_MOST),
    ]


async def _rests(pids: Sequence[int], seconds: float) -> list[_Rest]:
    """What each process took over the same `seconds`."""
    before, began = [(_processor_s(pid), counts(pid)[1]) for pid in pids], time.monotonic()
    await asyncio.sleep(seconds)
    after, took_s = [(_processor_s(pid), counts(pid)[1]) for pid in pids], time.monotonic() - began
    return [
        _Rest(percent=100 * (now[0] - then[0]) / took_s, wakes=(now[1] - then[1]) / took_s)
        for then, now in zip(before, after, strict=True)
    ]


def _processor_s(pid: int) -> float:
    """Processor seconds of all its threads so far; psutil's come in hundredths, and this is less."""
    stats = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(stat.read_text().split(maxsplit=1)[0]) for stat in stats) / _NANOSECONDS


def _rss_mb(pid: int) -> float:
    return float(psutil.Process(pid).memory_info().rss / MB)


async def _calls(service: ServiceProcess, calls: int) -> dict[str, float]:
    """The medians of one round, by kind; as many schedules are kept at its end as at its begin."""
    made: list[int] = []
    channel = service.channel
    empty, listed = empty_call(channel), list_call(channel, OWNERS[0])
    by_time = set_call(channel, made, at=f"{time.gmtime().tm_year + 1}-06-15 18:00")
    by_cron, remove = set_call(channel, made, cron=CRON), remove_call(channel, made)
    times: list[list[float]] = []
    for _ in range(calls):
        times.append([await time_of(call) for call in (empty, by_time, by_cron, listed, remove)])
        await remove()
    return dict(zip(KINDS, map(statistics.median, zip(*times, strict=True)), strict=True))


def _call_figures(rounds: Sequence[Mapping[str, float]]) -> list[Figure]:
    empty = [one[KINDS[0]] for one in rounds]
    rows = [milliseconds(f"baseline: {KINDS[0]}", empty)]
    for kind in KINDS[1:]:
        taken = [one[kind] for one in rounds]
        rows += [
            milliseconds(kind, taken),
            ratio("the same, of the empty call", taken, empty, at_most=CALL_AT_MOST),
        ]
    return rows


async def _lateness(data: Path, agent: NotedAgent, scale: Scale) -> list[Figure]:
    """One after the other, each due while the service sleeps."""
    middle, worst = [], []
    for _ in range(scale.rounds):
        due = come_due(data, one_time_ids(data)[: scale.runs_due], time.time() + AHEAD_S, GAP_S)
        async with _scheduler(data, agent):
            came = await _all_came(agent, due)
        late = [came[number] - due[number] for number in due]
        if min(late) < 0:
            raise RuntimeError(f"a schedule ran {-min(late):.3f} s early")
        middle.append(statistics.median(late))
        worst.append(max(late))
    return [
        milliseconds("handed over after it was due, p50", middle),
        milliseconds("the same, the latest of a round", worst, at_most_ms=LATE_AT_MOST_MS),
    ]


async def _all_at_once(data: Path, agent: NotedAgent, scale: Scale) -> list[Figure]:
    """All that have a time, at one instant while the service sleeps."""
    at = time.time() + AHEAD_S
    due = come_due(data, one_time_ids(data), at, 0.0)
    async with _scheduler(data, agent) as scheduler:
        came = await _all_came(agent, due)
        after = _rss_mb(scheduler.pid)
    return [
        figure("due at once", [len(due)], ""),
        milliseconds("until the last of them was handed over", [max(came.values()) - at]),
        figure("RSS after that", [after], "MB", at_most=RSS_AT_MOST_MB),
    ]


async def _all_came(agent: NotedAgent, due: Mapping[int, float]) -> dict[int, float]:
    """When a run of each of `due` came."""
    async with asyncio.timeout(AHEAD_S + len(due) * GAP_S + CAME_WITHIN_S):
        while True:
            came = {int(key.split(":")[1]): at for key, at in agent.came.items()}
            if came.keys() >= due.keys():
                return {number: came[number] for number in due}
            await asyncio.sleep(LOOK_S)
