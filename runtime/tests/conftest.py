"""Fixtures of the runtime's tests, and how they wait: for an event or a condition, with a deadline."""

import asyncio
import os
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from onechat_runtime.freezing import Snapshots
from onechat_runtime.health import HealthBoard
from onechat_runtime.store import Migration, Store

from tests.fakes.clock import ManualClock
from tests.fakes.disk import Disk
from tests.fakes.snapshot_reader import Gate

CUPS = Migration(
    number=1, name="cups", sql="CREATE TABLE cups (number INTEGER PRIMARY KEY, tea TEXT) STRICT;"
)


@pytest.fixture
def disk():
    made = Disk("disk-of-the-test")
    yield made
    made.unregister()


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def board(clock):
    return HealthBoard(clock)


@pytest.fixture
def cups():
    """A store's first migration: one table."""
    return CUPS


@pytest.fixture
def open_store(tmp_path, clock):
    """Opens the store of the test, again and again if need be."""

    def opened(*migrations: Migration, path: Path = tmp_path / "kitchen" / "store.db", **more):
        component = more.pop("component", "kitchen")
        return Store.open(path, component=component, migrations=migrations or (CUPS,), clock=clock, **more)

    return opened


@pytest.fixture
async def store(open_store):
    async with open_store() as opened:
        yield opened


@pytest.fixture
def until():
    """Await a condition that nothing announces, with a deadline."""

    async def wait(condition: Callable[[], bool], within_s: float = 30.0) -> None:
        async with asyncio.timeout(within_s):
            while not condition():
                await asyncio.sleep(0.005)

    return wait


@pytest.fixture
async def program():
    """Starts one of the programs beside these tests in a process of its own; what still runs is killed."""
    started: list[asyncio.subprocess.Process] = []
    root = Path(__file__).parents[2]
    folder = Path(__file__).parent / "integration" / "programs"

    async def start(
        name: str, *args: str, cwd: Path | None = None, **environ: str
    ) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(folder / name),
            *args,
            cwd=cwd,
            env={
                "PYTHONPATH": os.pathsep.join((str(root), os.environ.get("PYTHONPATH", ""))),
                "PATH": "/usr/bin:/bin",
                **environ,
            },
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.fixture
def snapshots_of(clock):
    """Opens the snapshots of a store; they are called s0, s1, …"""
    numbers = count()

    def opened(store, prune=None):
        return Snapshots.open(store, clock=clock, new_id=lambda: f"s{next(numbers)}", prune=prune)

    return opened


@pytest.fixture
async def snapshots(store, snapshots_of):
    async with snapshots_of(store) as opened:
        yield opened


@pytest.fixture
def gate():
    made = Gate()
    yield made
    made.opened.set()
