"""What five services take that have nothing to do: memory, time of the processor, and how often they wake.

Memory is in units of 1,000,000 bytes, as /proc says: RSS counts a page that several processes share for each
of them, PSS shares it out. Linux only. Times are seconds.
"""

import asyncio
import re
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import psutil  # type: ignore[import-untyped]

from bench.figures import Figure, figure
from bench.processes import bare_python, started
from bench.scale import Scale

TITLE: Final = "Five idle services"
ABOUT: Final = (
    "Started one by one with empty data and no messenger set up, left alone, then measured. RSS counts "
    "shared pages for each process that has them, PSS shares them out. Percents are of one core. The "
    "demo model runs beside the agent service when there is no key; it is no service and stands apart. "
    "The baseline is a bare Python that has imported grpc.aio."
)
SERVICES: Final = ("memory", "agent", "whatsapp", "telegram", "scheduler")
TOGETHER_AT_MOST_MB: Final = 450.0
BASELINE: Final = "baseline: a bare Python with grpc"
DEMO: Final = "demo model"
MB: Final = 1_000_000
_VOLUNTARY: Final = re.compile(r"^voluntary_ctxt_switches:\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """What one process took over a while."""

    rss_mb: float
    pss_mb: float | None  #: None where it may not be looked at: the agent lets nobody but root
    cpu_percent: float  #: of one core
    wakes: float  #: a second


async def measure(scale: Scale) -> list[Figure]:
    """The figures of one run: five spans of the same five processes."""
    with tempfile.TemporaryDirectory(prefix="onechat-bench-") as folder:
        async with _all_idle(Path(folder)) as processes:
            await asyncio.sleep(scale.settle_s)
            rounds = [await _span(processes, scale.idle_s) for _ in range(scale.rounds)]
    return _figures(rounds)


@asynccontextmanager
async def _all_idle(folder: Path) -> AsyncIterator[dict[str, int]]:
    """The process ids of the services, the demo model and the baseline, by name."""
    data = folder / "data"
    data.mkdir()
    processes: dict[str, int] = {}
    async with AsyncExitStack() as stack:
        processes[BASELINE] = await stack.enter_async_context(bare_python("grpc.aio", folder))
        told = {"ONECHAT_WORKDIR": str(folder / "workspace")}
        for name in SERVICES:
            service = await stack.enter_async_context(started(name, data, told))
            told[f"ONECHAT_{name.upper()}_ADDRESS"] = service.address
            processes[name] = service.pid
        demo = psutil.Process(processes["agent"]).children()
        assert len(demo) == 1, "without a key the agent service has the demo model as its only child"
        processes[DEMO] = demo[0].pid
        yield processes


async def _span(processes: dict[str, int], seconds: float) -> dict[str, _Taken]:
    """What each process took over `seconds`."""
    before = {name: counts(pid) for name, pid in processes.items()}
    began = time.monotonic()
    await asyncio.sleep(seconds)
    took_s = time.monotonic() - began
    return {name: _taken(pid, before[name], counts(pid), took_s) for name, pid in processes.items()}


def counts(pid: int) -> tuple[float, int]:
    """(processor seconds, voluntary switches of all threads) since the start of the process."""
    cpu = psutil.Process(pid).cpu_times()
    switches = sum(
        int(_VOLUNTARY.findall(status.read_text())[0])
        for status in Path(f"/proc/{pid}/task").glob("*/status")
    )
    return cpu.user + cpu.system, switches


def _taken(pid: int, before: tuple[float, int], after: tuple[float, int], took_s: float) -> _Taken:
    process = psutil.Process(pid)
    return _Taken(
        rss_mb=process.memory_info().rss / MB,
        pss_mb=_pss_mb(process),
        cpu_percent=100 * (after[0] - before[0]) / took_s,
        wakes=(after[1] - before[1]) / took_s,
    )


def _pss_mb(process: psutil.Process) -> float | None:
    try:
        return float(process.memory_full_info().pss / MB)
    except psutil.AccessDenied:
        return None


def _figures(rounds: Sequence[Mapping[str, _Taken]]) -> list[Figure]:
    def row(what: str, unit: str, value: Callable[[_Taken], float], *names: str) -> Figure:
        return figure(what, [sum(value(one[name]) for name in names) for one in rounds], unit)

    def pss(what: str, *names: str) -> list[Figure]:
        taken = [[one[name].pss_mb for name in names] for one in rounds]
        if any(one is None for span in taken for one in span):
            return []
        return [figure(what, [sum(one or 0.0 for one in span) for span in taken], "MB")]

    shown = [BASELINE, *SERVICES, DEMO]
    return [
        *(row(f"{name}: RSS", "MB", lambda one: one.rss_mb, name) for name in shown),
        *(found for name in shown for found in pss(f"{name}: PSS", name)),
        replace(
            row("the five services: RSS", "MB", lambda one: one.rss_mb, *SERVICES),
            at_most=TOGETHER_AT_MOST_MB,
        ),
        *pss("the five services: PSS", *SERVICES),
        row(f"{BASELINE}: processor", "%", lambda one: one.cpu_percent, BASELINE),
        row("the five services: processor", "%", lambda one: one.cpu_percent, *SERVICES),
        *(row(f"{name}: wakes", "a second", lambda one: one.wakes, name) for name in shown),
    ]
