"""Time, as a port: whoever needs it gets a Clock, so that tests can turn it by hand.

The hand-turned clock is tests/fakes/clock.py. Instants are aware and UTC; periods are seconds.
"""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def micros(instant: datetime) -> int:
    """`instant` as stores keep it: whole microseconds since 1970, UTC. It must be aware."""
    return (instant - _EPOCH) // _MICROSECOND


def instant(micros: int) -> datetime:
    """What `micros` made, aware and UTC."""
    return _EPOCH + timedelta(microseconds=micros)


class Clock(Protocol):
    """Wall time, time that never steps back, and waiting."""

    def now(self) -> datetime:
        """The wall clock, aware, UTC. It may step back."""

    def monotonic(self) -> float:
        """Seconds since some fixed instant; it never steps back."""

    async def sleep(self, seconds: float) -> None:
        """Return once `seconds` have passed on this clock."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The wall clock, aware, UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds of the machine's monotonic clock."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait in the event loop."""
        await asyncio.sleep(seconds)
