"""A disk that is full from any write on: each act happens wholly or not at all, and works once there is room.

SQLite is told by its file system that there is no room, at the first write of an act, at the second, and so
on until it passes. What a real process makes of a real limit: tests/system.
"""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from onechat_runtime.errors import ServiceError

from tests.fakes.clock import ManualClock
from tests.fakes.disk import Disk
from tests.fakes.memory_at_hand import MemoryAtHand, at_hand
from tests.fakes.memory_script import POINTS, Committing, asked, go_on, kept, make_base

REST_S = 10
IN_THE_BACKGROUND = {"log_changes.load", "indexing.run", "removing.run"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    async def make() -> Path:
        folder, clock = tmp_path_factory.mktemp("base"), ManualClock()
        async with at_hand(folder, clock) as memory:
            await make_base(memory, clock)
        return folder

    return asyncio.run(make())


@pytest.fixture
def small_disk() -> Iterator[Disk]:
    made = Disk("a small disk", waits=False)
    yield made
    made.unregister()


async def refusal_of(committing: Committing, memory: MemoryAtHand) -> str | None:
    """The reason for which the act is refused; None when it is done."""
    try:
        await committing.act(memory)
    except ServiceError as refused:
        return refused.reason
    return None


async def left_by(base: Path, folder: Path, committing: Committing, disk: Disk | None) -> dict[str, Any]:
    """All that is left after the act and the rest; on `disk`, the act first fails at each of its writes."""
    shutil.copytree(base, folder)
    clock = ManualClock()
    async with at_hand(folder, clock, vfs=disk and disk.name) as memory:
        room = 0
        while disk is not None:
            before = kept(folder / "memory", committing.steps)
            disk.room = room
            refusal = await refusal_of(committing, memory)
            disk.room = None
            if refusal is None:
                break
            assert refusal == "STORE_FULL"
            assert kept(folder / "memory", committing.steps) == before
            clock.advance(REST_S)
            room += 1
        assert disk is None or room > 0
        await committing.act(memory)
        await go_on(memory)
        found = await asked(memory)
    return {**found, **kept(folder / "memory", committing.ignored)}


@pytest.mark.parametrize("name", sorted(POINTS.keys() - IN_THE_BACKGROUND))
async def test_without_room_at_any_write_nothing_happens_and_later_all_does(
    base: Path, tmp_path: Path, small_disk: Disk, name: str
):
    never_full = await left_by(base, tmp_path / "never", POINTS[name], None)

    assert await left_by(base, tmp_path / "often", POINTS[name], small_disk) == never_full
