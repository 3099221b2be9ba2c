"""Batches while the disk is full: nothing that came is lost, and all goes on once there is room."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
from onechat_whatsapp.batching import PENDING_MOST

from tests.fakes.agent_servicer import AgentServicer, agent_serving
from tests.fakes.disk import Disk
from tests.fakes.whatsapp_batches import Bench, Running, said, texts_in


@dataclass(frozen=True, slots=True, kw_only=True)
class OnADisk:
    """Batches that are handed over as they close, on a disk that can be full."""

    bench: Bench
    running: Running
    disk: Disk


@pytest.fixture
async def full(tmp_path: Path) -> AsyncIterator[OnADisk]:
    agent, disk = AgentServicer(), Disk(f"disk-{uuid4().hex}")
    async with agent_serving(agent) as loopback:
        bench = Bench(tmp_path / "whatsapp", agent, loopback.address)
        bench.vfs = disk.name
        async with bench.running() as running:
            await running.live()
            yield OnADisk(bench=bench, running=running, disk=disk)
    disk.unregister()


async def test_who_reads_waits_while_too_much_is_not_on_disk(full: OnADisk) -> None:
    running, clock, disk = full.running, full.bench.clock, full.disk
    disk.full = True
    taking = asyncio.ensure_future(running.batching.take([said(f"message {n}") for n in range(PENDING_MOST)]))
    await clock.until_sleeping()
    assert not taking.done()
    disk.full = False
    clock.advance(10)
    async with asyncio.timeout(30):
        await taking
    assert "messages_taken" in running.passed


async def test_a_batch_that_could_not_close_on_a_full_disk_closes_once_there_is_room(full: OnADisk) -> None:
    running, clock, disk = full.running, full.bench.clock, full.disk
    await running.take(said("hello"))
    await running.settled()
    disk.full = True
    clock.advance(20)
    async with asyncio.timeout(30):
        while clock.sleepers != [10]:
            await asyncio.sleep(0)
    disk.full = False
    clock.advance(10)
    (delivery,) = await running.until_delivered(1)

    assert texts_in([delivery]) == ["hello"]


async def test_a_full_disk_holds_the_reading_up_and_loses_nothing(full: OnADisk) -> None:
    running, clock, disk = full.running, full.bench.clock, full.disk
    disk.full = True
    await running.batching.take([said(f"message {n}") for n in range(PENDING_MOST - 1)])
    await clock.until_sleeping()
    assert clock.sleepers[0] == 10
    disk.full = False
    clock.advance(10)
    await running.until(lambda: "messages_taken" in running.passed)
    await running.quiet()
    deliveries = await running.until_delivered(6)

    assert texts_in(deliveries) == [f"message {n}" for n in range(PENDING_MOST - 1)]
