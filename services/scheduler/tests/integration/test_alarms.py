"""The promises of an alarm: the machine's own, the one that looks at the clock, and the tests' double."""

import asyncio
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import uvloop
from onechat_runtime.clock import SystemClock
from onechat_scheduler.adapters.alarm import LOOK_S, Alarm, KernelAlarm, LookingAlarm, system_alarm
from onechat_scheduler.adapters.timerfd import TimerFd

from tests.fakes.clock import ManualClock
from tests.fakes.manual_alarm import ManualAlarm

KINDS = ("kernel", "looking", "double")
linux = pytest.mark.skipif(sys.platform != "linux", reason="timerfd is Linux's")


@pytest.fixture(params=KINDS)
def alarm(request: pytest.FixtureRequest) -> Iterator[Alarm]:
    clock = SystemClock()
    match request.param:
        case "kernel" if sys.platform == "linux":
            with TimerFd() as timer:
                yield KernelAlarm(timer)
        case "looking":
            yield LookingAlarm(clock)
        case "double":
            yield ManualAlarm(ManualClock(clock.now() + timedelta(hours=1)))
        case _:
            pytest.skip("timerfd is Linux's")


async def test_an_instant_that_is_past_rings_at_once(alarm: Alarm) -> None:
    for past in (datetime.now(UTC), datetime(1970, 1, 1, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)):
        await asyncio.wait_for(alarm.until(past), 30)


async def test_an_instant_far_off_does_not_ring(alarm: Alarm) -> None:
    """Not even one that is further off than the kernel can count."""
    for instant in (datetime.now(UTC) + timedelta(days=1), datetime(9999, 12, 31, tzinfo=UTC), None):
        waiting = asyncio.ensure_future(alarm.until(instant))
        await asyncio.wait([waiting], timeout=0.02)

        assert not waiting.done()

        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


async def test_it_can_be_waited_for_again_after_a_wait_was_given_up(alarm: Alarm) -> None:
    waiting = asyncio.ensure_future(alarm.until(datetime.now(UTC) + timedelta(days=1)))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)

    await asyncio.wait_for(alarm.until(datetime.now(UTC)), 30)


def rings_at_its_instant() -> timedelta:
    """How long after its instant the machine's alarm rang; negative is too early."""

    async def ring() -> timedelta:
        clock = SystemClock()
        instant = clock.now() + timedelta(milliseconds=30)
        with system_alarm(clock) as alarm:
            await alarm.until(instant)
        return clock.now() - instant

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(ring())


def test_the_machines_alarm_rings_at_its_instant_in_the_loop_that_services_use() -> None:
    assert timedelta(0) <= rings_at_its_instant() < timedelta(seconds=LOOK_S)


@linux
async def test_a_ring_of_an_instant_that_nobody_waits_for_any_more_ends_no_other_wait() -> None:
    with TimerFd() as timer:
        assert timer.arm(datetime.now(UTC))
        async with asyncio.timeout(30):
            await readable(timer)
        waiting = asyncio.ensure_future(KernelAlarm(timer).until(None))
        await asyncio.wait([waiting], timeout=0.02)

        assert not waiting.done()

        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


@linux
async def test_the_machines_alarm_leaves_no_file_open() -> None:
    before = open_files()

    with system_alarm(SystemClock()) as alarm:
        assert isinstance(alarm, KernelAlarm)
        assert open_files() == before + 1

    assert open_files() == before


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@linux
@pytest.mark.parametrize("instant", [datetime(2100, 1, 1, tzinfo=UTC), None])
def test_the_kernel_is_asked_for_the_wall_clocks_instant_and_to_tell_when_it_is_set(
    instant: datetime | None,
) -> None:
    """That it does so then cannot be tried: the clock is everybody's. What it was asked, it shows."""
    with TimerFd() as timer:
        timer.arm(instant)
        shown = Path(f"/proc/self/fdinfo/{timer.fileno()}").read_text().splitlines()

    assert "clockid: 0" in shown  # CLOCK_REALTIME
    assert "settime flags: 03" in shown  # TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET


async def readable(timer: TimerFd) -> None:
    loop = asyncio.get_running_loop()
    came = asyncio.Event()
    loop.add_reader(timer.fileno(), came.set)
    await came.wait()
    loop.remove_reader(timer.fileno())


class SetClockTimer:
    """A timer whose clock is set as a test says: setting the machine's would disturb everything on it."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe2(os.O_NONBLOCK)
        self.canceled = False
        self.armed = asyncio.Event()

    def fileno(self) -> int:
        return self._read

    def set_clock(self) -> None:
        self.canceled = True
        os.write(self._write, b"!")

    def wake_for_nothing(self) -> None:
        os.write(self._write, b"!")

    def arm(self, instant: datetime | None) -> bool:
        self.armed.set()
        canceled, self.canceled = self.canceled, False
        return not canceled

    def take(self) -> bool:
        with suppress(BlockingIOError):  # a loop may call twice for what was there once
            os.read(self._read, 1)
        canceled, self.canceled = self.canceled, False
        return canceled

    def close(self) -> None:
        os.close(self._read)
        os.close(self._write)


@contextmanager
def settable() -> Iterator[SetClockTimer]:
    timer = SetClockTimer()
    try:
        yield timer
    finally:
        timer.close()


async def test_a_clock_that_is_set_ends_the_wait() -> None:
    with settable() as timer:
        waiting = asyncio.ensure_future(KernelAlarm(timer).until(None))
        await timer.armed.wait()

        timer.set_clock()

        await asyncio.wait_for(waiting, 30)


async def test_a_clock_that_was_set_while_nobody_waited_ends_the_next_wait() -> None:
    with settable() as timer:
        timer.set_clock()

        await asyncio.wait_for(KernelAlarm(timer).until(None), 30)


async def test_a_descriptor_that_wakes_for_nothing_is_no_ring() -> None:
    with settable() as timer:
        waiting = asyncio.ensure_future(KernelAlarm(timer).until(None))
        await timer.armed.wait()
        timer.wake_for_nothing()
        await asyncio.wait([waiting], timeout=0.02)

        assert not waiting.done()

        timer.set_clock()
        await asyncio.wait_for(waiting, 30)


@linux
def test_what_the_kernel_says_of_a_clock_that_was_set_is_a_ring_and_other_failures_are_not() -> None:
    """Of the real one only the words can be looked at: the kernel's answer is put in its place."""
    with TimerFd() as timer:
        assert answered(timer, errno.ECANCELED)
        assert not answered(timer, errno.EAGAIN)
        with pytest.raises(OSError, match="Bad file"):
            answered(timer, errno.EBADF)


def answered(timer: TimerFd, number: int) -> bool:
    def read(file: int, length: int) -> bytes:
        raise OSError(number, os.strerror(number))

    return timer.take(read)


async def test_without_the_kernels_timer_the_clock_is_looked_at_every_ten_seconds() -> None:
    clock = ManualClock()
    alarm = LookingAlarm(clock)
    waiting = asyncio.ensure_future(alarm.until(clock.now() + timedelta(seconds=25)))
    for expected in (LOOK_S, LOOK_S, 5.0):
        await clock.until_sleeping()
        assert clock.sleepers == [expected]
        assert not waiting.done()
        clock.advance(expected)

    await asyncio.wait_for(waiting, 30)


@pytest.mark.parametrize("step_s", [3600.0, -3600.0])
async def test_without_the_kernels_timer_a_clock_that_is_set_is_seen_at_the_next_look(step_s: float) -> None:
    clock = ManualClock()
    alarm = LookingAlarm(clock)
    waiting = asyncio.ensure_future(alarm.until(None))
    await clock.until_sleeping()

    clock.step_wall_clock(step_s)
    clock.advance(LOOK_S)

    await asyncio.wait_for(waiting, 30)
