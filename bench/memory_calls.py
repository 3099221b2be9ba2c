"""How long reading calls of the memory service take through gRPC, on a short log and on a long one.

Two services are processes of their own and answer one call at a time; calls of all kinds take turns, so that
what disturbs one disturbs the others. Times are seconds.
"""

import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import grpc.aio
from onechat.memory.v1 import memory_service_pb2, memory_service_pb2_grpc

from bench.append import append_call
from bench.baselines import Call, empty_call, time_of
from bench.building import Builder
from bench.figures import Figure, milliseconds, ratio
from bench.made_log import LOG, data_with
from bench.made_texts import SEED
from bench.processes import TIMEOUT_S, started
from bench.scale import Scale

TITLE: Final = "Zoom and view"
ABOUT: Final = (
    "p50 of a round's calls, one after the other, each kind in turn. A zoom is of a node drawn from all "
    "levels alike and from anywhere in its level, so it gives two lines, or a message whole. A view is the "
    "chat's whole, every line of it built; each is asked for as by a turn, after another message was "
    "appended and what that lets be built was built, and once more with nothing new. The baseline is an "
    "empty call (GetInfo) to the same process. A zoom is to take the same on both logs; a tenth is left for "
    "noise."
)
ZOOM_AT_MOST: Final = 1.5  # × an empty call
VIEW_AT_MOST: Final = 1.6  # × an empty call
THE_SAME: Final = 1.1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Calls:
    """The medians of one round on one log."""

    empty_s: float
    zoom_s: float
    view_s: float  #: after an append
    again_s: float  #: nothing new since the one before


async def measure(scale: Scale) -> list[Figure]:
    """The figures of one run."""
    few, many = scale.small_log, scale.huge_log
    with data_with(few) as few_data, data_with(many) as many_data:
        async with started("memory", few_data) as short, started("memory", many_data) as long:
            rounds = [
                {
                    few: await _round(short.channel, few, scale.calls, number),
                    many: await _round(long.channel, many, scale.calls, number),
                }
                for number in range(scale.rounds)
            ]
    return _figures(rounds, few, many)


def _figures(rounds: Sequence[Mapping[int, _Calls]], few: int, many: int) -> list[Figure]:
    rows: list[Figure] = []
    for length in (few, many):
        calls = [one[length] for one in rounds]
        empty, zooms, views, again = ([getattr(one, what) for one in calls] for what in _Calls.__slots__)
        rows += [
            milliseconds(f"baseline: an empty call, {length:,} messages", empty),
            milliseconds(f"zoom at {length:,}", zooms),
            ratio("the same, of the empty call", zooms, empty, at_most=ZOOM_AT_MOST),
            milliseconds(f"view at {length:,}, a message more", views),
            ratio("the same, of the empty call", views, empty, at_most=VIEW_AT_MOST),
            milliseconds(f"view at {length:,}, nothing new", again),
            ratio("the same, of the empty call", again, empty, at_most=VIEW_AT_MOST),
        ]
    zooms_many, zooms_few = ([one[length].zoom_s for one in rounds] for length in (many, few))
    return [
        *rows,
        ratio(f"zoom at {many:,} of that at {few:,}", zooms_many, zooms_few, at_most=THE_SAME),
    ]


async def _round(channel: grpc.aio.Channel, length: int, calls: int, number: int) -> _Calls:
    empty, zoom, view = empty_call(channel), zoom_call(channel, length, number), view_call(channel)
    append = append_call(channel, 1)
    builder = Builder(channel, str(number))
    await view()  # the first one after a start
    times: list[list[float]] = []
    for _ in range(calls):
        some = [await time_of(empty), await time_of(zoom)]
        await append()
        await builder.build_all()
        times.append([*some, await time_of(view), await time_of(view)])
    empty_s, zoom_s, view_s, again_s = map(statistics.median, zip(*times, strict=True))
    return _Calls(empty_s=empty_s, zoom_s=zoom_s, view_s=view_s, again_s=again_s)


def zoom_call(channel: grpc.aio.Channel, length: int, number: int) -> Call:
    """A call that looks behind another line each time; `number` draws another row of lines."""
    stub: Any = memory_service_pb2_grpc.MemoryServiceStub(channel)
    rng = random.Random(f"{SEED} {number}")

    def zoom() -> Any:
        level = rng.randrange(length.bit_length())
        first = rng.randrange(length >> level) << level
        request = memory_service_pb2.ZoomRequest(log_id=LOG, first_id=first, count=1 << level)
        return stub.Zoom(request, timeout=TIMEOUT_S)

    return zoom


def view_call(channel: grpc.aio.Channel) -> Call:
    """A call for the made log's view."""
    stub: Any = memory_service_pb2_grpc.MemoryServiceStub(channel)
    request = memory_service_pb2.GetViewRequest(log_id=LOG)
    return lambda: stub.GetView(request, timeout=TIMEOUT_S)
