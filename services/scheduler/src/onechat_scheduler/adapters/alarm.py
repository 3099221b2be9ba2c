"""Waking at an instant of the wall clock, whatever happens to that clock meanwhile. Instants are aware, UTC.

On Linux the kernel keeps the instant (timerfd.py), so nothing runs until it comes; elsewhere short sleeps
look at the clock. What is due then, ticker.py finds; it compares with the clock itself.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Final, Protocol

from onechat_runtime.clock import Clock

from onechat_scheduler.adapters.timerfd import NoTimer, TimerFd

LOOK_S: Final = 10.0  #: how often the wall clock is looked at where the kernel does not tell of its changes
STEP_S: Final = 0.5  #: by how much the wall clock and the one that never steps may part before it was set


class Alarm(Protocol):
    """Wakes whoever waits. One waits at a time."""

    async def until(self, instant: datetime | None) -> None:
        """Return at `instant` of the wall clock, or as soon as that was set or the machine woke from sleep.

        It never returns before `instant` for any other reason. None has no instant to wait for. A change of
        the clock that came while nobody waited ends the next wait.
        """


class Timer(Protocol):
    """A descriptor that can be read at an instant of the wall clock, and when that clock was set."""

    def fileno(self) -> int:
        """The descriptor to watch."""

    def arm(self, instant: datetime | None) -> bool:
        """Set the instant; None: none. False when the clock was set since the last look."""

    def take(self) -> bool:
        """Take what made it readable; False when there was nothing yet."""


class KernelAlarm:
    """An alarm by a timer of the kernel."""

    def __init__(self, timer: Timer) -> None:
        self._timer = timer

    async def until(self, instant: datetime | None) -> None:
        """As Alarm says."""
        if not self._timer.arm(instant):
            return
        loop = asyncio.get_running_loop()
        rang = asyncio.Event()
        loop.add_reader(self._timer.fileno(), rang.set)
        try:
            while True:
                await rang.wait()
                rang.clear()
                if self._timer.take():
                    return
        finally:
            loop.remove_reader(self._timer.fileno())


class LookingAlarm:
    """An alarm that looks at the clock every ten seconds, for machines whose kernel has no such timer."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._apart = self._difference()

    async def until(self, instant: datetime | None) -> None:
        """As Alarm says, but up to ten seconds after the clock was set."""
        while not self._was_set():
            left_s = LOOK_S if instant is None else (instant - self._clock.now()).total_seconds()
            if left_s <= 0:
                return
            await self._clock.sleep(min(left_s, LOOK_S))

    def _was_set(self) -> bool:
        """Whether the wall clock went another way than the one that never steps, since the last look."""
        before, self._apart = self._apart, self._difference()
        return abs(self._apart - before) > STEP_S

    def _difference(self) -> float:
        return self._clock.now().timestamp() - self._clock.monotonic()


@contextmanager
def system_alarm(clock: Clock) -> Iterator[Alarm]:
    """The machine's alarm; `clock` is used where its kernel has no timer for it."""
    try:
        timer = TimerFd()
    except NoTimer:
        yield LookingAlarm(clock)
        return
    with timer:
        yield KernelAlarm(timer)
