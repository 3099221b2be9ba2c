"""An alarm over a clock that a test turns: what moves that clock goes through here, so that it can ring.

Seconds; instants are aware and UTC. It keeps Alarm's promises, as the machine's do:
services/scheduler/tests/integration/test_alarms.py.
"""

import asyncio
from datetime import datetime

from tests.fakes.clock import ManualClock


class ManualAlarm:
    """Rings when `advance` reaches the instant, and when the clock is set or the machine sleeps."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.furthest = clock.now()  #: the latest that the clock has shown
        self.waits = 0  #: how often somebody began to wait
        self._was_set = False
        self._waiting: tuple[datetime | None, asyncio.Future[None]] | None = None
        self._came = asyncio.Event()

    async def until(self, instant: datetime | None) -> None:
        self.waits += 1
        if self._was_set or (instant is not None and instant <= self.clock.now()):
            self._was_set = False
            return
        mine = (instant, asyncio.get_running_loop().create_future())
        self._waiting = mine
        self._came.set()
        try:
            await mine[1]
        finally:
            if self._waiting is mine:
                self._waiting = None

    @property
    def is_waited_for(self) -> bool:
        """Whether somebody waits now."""
        return self._waiting is not None and not self._waiting[1].done()

    @property
    def instant(self) -> datetime | None:
        """The instant that is waited for; None for none, too."""
        return self._waiting[0] if self._waiting is not None else None

    async def until_waited_for(self, within_s: float = 30.0) -> None:
        """Return once somebody waits; TimeoutError after `within_s` of real time."""
        async with asyncio.timeout(within_s):
            while not self.is_waited_for:
                self._came.clear()
                await self._came.wait()

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass."""
        self.clock.advance(seconds)
        self.furthest = max(self.furthest, self.clock.now())
        if self.instant is not None and self.instant <= self.clock.now():
            self._ring()

    def set_clock(self, seconds: float) -> None:
        """Move the wall clock alone, forward or back, as a person or a time server does."""
        self.clock.step_wall_clock(seconds)
        self.furthest = max(self.furthest, self.clock.now())
        self._was_set = not self._ring()

    def sleep_machine(self, seconds: float) -> None:
        """Suspend the machine for `seconds`: only the wall clock has gone on when it wakes."""
        self.set_clock(seconds)

    def _ring(self) -> bool:
        """Wake whoever waits; False when nobody does."""
        if self._waiting is None or self._waiting[1].done():
            return False
        self._waiting[1].set_result(None)
        return True
