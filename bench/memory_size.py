"""How much memory the memory service's process takes on a log of any length, once it has done all its work.

Memory is resident pages, in units of 1,000,000 bytes. Linux only, as the other figures from /proc.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psutil  # type: ignore[import-untyped]
from onechat.memory.v1 import memory_service_pb2_grpc, search_pb2

from bench.append import append_call
from bench.building import Builder
from bench.figures import Figure, figure
from bench.made_log import LOG, data_with
from bench.made_texts import latin
from bench.memory_calls import view_call, zoom_call
from bench.processes import TIMEOUT_S, ServiceProcess, bare_python, started
from bench.scale import Scale

TITLE: Final = "Memory of the memory service"
ABOUT: Final = (
    "Resident memory (RSS) of the process: after its start, and after a view, appends of one message and of "
    "32, all that can be built then, zooms, the most frequent words searched for, and views again, some "
    "hundred calls in all. A round is a process of its own. The baseline is a bare Python that has imported "
    "grpc.aio and apsw."
)
AT_MOST_MB: Final = 120.0
MB: Final = 1_000_000
IN_CALL: Final = 32
SEARCHES: Final = 10
_BASELINE: Final = "grpc.aio, apsw"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Size:
    """Of one process, in MB."""

    started: float
    worked: float


async def measure(scale: Scale) -> list[Figure]:
    """The figures of one run."""
    few, many = scale.small_log, scale.huge_log
    bare: list[float] = []
    short: list[_Size] = []
    long: list[_Size] = []
    with data_with(few) as few_data, data_with(many) as many_data:
        for number in range(scale.rounds):
            async with bare_python(_BASELINE, many_data) as pid:
                bare.append(_rss_mb(pid))
            short.append(await _size(few_data, few, scale.calls, number))
            long.append(await _size(many_data, many, scale.calls, number))
    return [
        figure("baseline: a bare Python with grpc and apsw", bare, "MB"),
        figure(f"started, at {few:,} messages", [one.started for one in short], "MB"),
        figure(f"after its work, at {few:,}", [one.worked for one in short], "MB"),
        figure(f"started, at {many:,} messages", [one.started for one in long], "MB"),
        figure(f"after its work, at {many:,}", [one.worked for one in long], "MB", at_most=AT_MOST_MB),
    ]


async def _size(data: Path, length: int, calls: int, number: int) -> _Size:
    async with started("memory", data) as memory:
        before = _rss_mb(memory.pid)
        await _work(memory, length, calls, number)
        return _Size(started=before, worked=_rss_mb(memory.pid))


async def _work(memory: ServiceProcess, length: int, calls: int, number: int) -> None:
    view, zoom = view_call(memory.channel), zoom_call(memory.channel, length, number)
    await view()
    append, append_many = append_call(memory.channel, 1), append_call(memory.channel, IN_CALL)
    for _ in range(calls):
        await append()
    for _ in range(calls // IN_CALL):
        await append_many()
    await Builder(memory.channel, str(number)).build_all()
    for _ in range(calls):
        await zoom()
    stub: Any = memory_service_pb2_grpc.MemoryServiceStub(memory.channel)
    for word in latin().words[:SEARCHES]:
        request = search_pb2.SearchMessagesRequest(log_id=LOG, words=word)
        await stub.SearchMessages(request, timeout=TIMEOUT_S)
    for _ in range(calls // 10):
        await view()


def _rss_mb(pid: int) -> float:
    return float(psutil.Process(pid).memory_info().rss / MB)
