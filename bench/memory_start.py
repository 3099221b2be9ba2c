"""How long the memory service takes to start on a long log, and to give its first view.

A start is from exec until a health check answers SERVING; the view is asked for at once after that. The store
has been read before, so its file is in the system's cache. Times are seconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.baselines import empty_call, median_time, time_of
from bench.figures import Figure, figure, milliseconds, ratios
from bench.made_log import data_with
from bench.memory_calls import view_call
from bench.processes import python_s, started
from bench.scale import Scale

TITLE: Final = "Start of the memory service, and its first view"
ABOUT: Final = (
    "A start is from exec until a health check answers SERVING. Its baseline is a bare Python that "
    "imports what the service imports, and ends. The first view is the first call after that check; its "
    "baseline is an empty call (GetInfo) to the same process. The store's file is in the system's "
    "cache."
)
IMPORTS: Final = "import onechat_memory.__main__, uvloop"
START_AT_MOST_MS: Final = 1_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    serving_s: float
    cpu_s: float  #: processor time that the start took
    first_view_s: float
    view_s: float  #: later ones
    empty_s: float


async def measure(scale: Scale) -> list[Figure]:
    """The figures of one run."""
    imports: list[float] = []
    small: list[_Start] = []
    large: list[_Start] = []
    with data_with(scale.small_log) as small_data, data_with(scale.large_log) as large_data:
        for _ in range(scale.rounds):
            imports.append(await python_s(IMPORTS, small_data))
            small.append(await _start(small_data, scale))
            large.append(await _start(large_data, scale))
    return _figures(scale, imports, small, large)


def _figures(
    scale: Scale, imports: Sequence[float], small: Sequence[_Start], large: Sequence[_Start]
) -> list[Figure]:
    few, many = f"{scale.small_log:,} messages", f"{scale.large_log:,} messages"
    few_s, many_s = [one.serving_s for one in small], [one.serving_s for one in large]
    first_few_s, first_many_s = [one.first_view_s for one in small], [one.first_view_s for one in large]
    return [
        milliseconds("baseline: a bare Python imports the service", imports),
        milliseconds(f"start at {few}", few_s),
        milliseconds(f"start at {many}", many_s, at_most_ms=START_AT_MOST_MS),
        figure("the same, of that at fewer messages", ratios(many_s, few_s), "×"),
        milliseconds("processor time of it", [one.cpu_s for one in large]),
        milliseconds("baseline: an empty call", [one.empty_s for one in large]),
        milliseconds(f"first view at {few}", first_few_s),
        milliseconds(f"first view at {many}", first_many_s),
        milliseconds(f"later views at {few}", [one.view_s for one in small]),
        milliseconds(f"later views at {many}", [one.view_s for one in large]),
    ]


async def _start(data: Path, scale: Scale) -> _Start:
    async with started("memory", data) as memory:
        view = view_call(memory.channel)
        first_view_s = await time_of(view)
        return _Start(
            serving_s=memory.serving_s,
            cpu_s=memory.cpu_s,
            first_view_s=first_view_s,
            view_s=await median_time(view, scale.calls),
            empty_s=await median_time(empty_call(memory.channel), scale.calls),
        )
