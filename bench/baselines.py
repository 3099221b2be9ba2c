"""What everything is measured beside: an empty call through the same door, and a raw write that is synced.

Times are seconds.
"""

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import grpc.aio
from onechat.ops.v1 import ops_service_pb2, ops_service_pb2_grpc

from bench.processes import TIMEOUT_S

RAW_BYTES: Final = 4_096  # a page of a store

Call = Callable[[], Awaitable[Any]]


def empty_call(channel: grpc.aio.Channel) -> Call:
    """GetInfo, which every service answers from memory; it has a token and a log line like any call."""
    stub: Any = ops_service_pb2_grpc.SnapshotServiceStub(channel)
    request = ops_service_pb2.GetInfoRequest()
    return lambda: stub.GetInfo(request, timeout=TIMEOUT_S)


async def time_of(call: Call) -> float:
    """How long one call takes."""
    began = time.perf_counter()
    await call()
    return time.perf_counter() - began


async def median_time(call: Call, calls: int) -> float:
    """The median of `calls` calls, one after the other."""
    return statistics.median([await time_of(call) for _ in range(calls)])


async def rate(call: Call, *, callers: int, seconds: float) -> float:
    """Calls a second that `callers` get answered who each ask again at once."""
    began = time.perf_counter()
    end = began + seconds

    async def ask() -> int:
        calls = 0
        while time.perf_counter() < end:
            await call()
            calls += 1
        return calls

    counts = await asyncio.gather(*(ask() for _ in range(callers)))
    return sum(counts) / (time.perf_counter() - began)


def raw_sync_s(writes: int) -> float:
    """The median time of appending RAW_BYTES to a file and syncing it, where the stores lie."""
    times = []
    with tempfile.TemporaryDirectory(prefix="onechat-bench-") as folder:
        file = os.open(Path(folder) / "raw", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            for _ in range(writes):
                began = time.perf_counter()
                os.write(file, bytes(RAW_BYTES))
                os.fsync(file)
                times.append(time.perf_counter() - began)
        finally:
            os.close(file)
    return statistics.median(times)


def raw_sync_rate(seconds: float) -> float:
    """Such writes a second, over `seconds`."""
    with tempfile.TemporaryDirectory(prefix="onechat-bench-") as folder:
        file = os.open(Path(folder) / "raw", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        writes, began = 0, time.perf_counter()
        try:
            while time.perf_counter() < began + seconds:
                os.write(file, bytes(RAW_BYTES))
                os.fsync(file)
                writes += 1
        finally:
            os.close(file)
        return writes / (time.perf_counter() - began)
