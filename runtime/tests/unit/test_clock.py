"""Time in stores, and the clock that tests turn by hand."""

import asyncio
from datetime import UTC, datetime, timedelta, timezone

from onechat_runtime.clock import SystemClock, instant, micros

from tests.fakes.clock import ManualClock


def test_an_instant_survives_the_store_to_the_microsecond():
    there = datetime(2026, 11, 30, 3, 4, 5, 678901, tzinfo=timezone(timedelta(hours=5, minutes=45)))

    back = instant(micros(there))

    assert back == there
    assert back.tzinfo is UTC


def test_an_instant_before_1970_survives_too():
    there = datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)

    assert micros(there) == -1
    assert instant(-1) == there


async def test_the_machines_clock_is_aware_and_does_not_step_back():
    clock = SystemClock()

    first = clock.monotonic()
    await clock.sleep(0)

    assert clock.now().utcoffset() == timedelta(0)
    assert clock.monotonic() >= first


async def test_the_hand_turned_clock_wakes_whoever_is_due_in_order():
    clock = ManualClock()
    woken = []

    async def sleep(seconds):
        await clock.sleep(seconds)
        woken.append(seconds)

    tasks = [asyncio.create_task(sleep(seconds)) for seconds in (30, 10, 20)]
    await clock.until_sleeping(3)
    clock.advance(20)
    await asyncio.gather(tasks[1], tasks[2])

    assert woken == [10, 20]
    assert clock.sleepers == [10]
    clock.advance(10)
    await tasks[0]


async def test_a_cancelled_sleeper_is_forgotten():
    clock = ManualClock()
    task = asyncio.create_task(clock.sleep(5))
    await clock.until_sleeping()

    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert clock.sleepers == []


def test_the_wall_clock_may_step_back_alone():
    clock = ManualClock()
    before = clock.now()

    clock.step_wall_clock(-3600)

    assert clock.now() == before - timedelta(hours=1)
    assert clock.monotonic() == 0
