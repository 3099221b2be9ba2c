"""A scheduler's inside for each test: a real store, a clock that stands still, an agent that takes runs."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.fakes.disk import Disk
from tests.fakes.scheduler_bench import Bench, Running, made_disk
from tests.fakes.scheduler_server import SchedulerServer, scheduling


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with made_disk(f"disk of {tmp_path}") as disk:
        yield disk


@pytest.fixture
def bench(tmp_path: Path, disk: Disk) -> Bench:
    return Bench(tmp_path / "scheduler", disk)


@pytest.fixture
async def running(bench: Bench) -> AsyncIterator[Running]:
    async with bench.running() as running:
        yield running


@pytest.fixture
async def scheduler(tmp_path: Path) -> AsyncIterator[SchedulerServer]:
    """All of it, behind its door."""
    async with scheduling(tmp_path) as scheduler:
        yield scheduler
