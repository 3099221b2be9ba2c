"""A clock that stands still until a test turns it. Seconds; instants are aware and UTC."""

import asyncio
from datetime import UTC, datetime, timedelta


class ManualClock:
    """Keeps Clock's promises on time that only `advance` moves."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, 9, tzinfo=UTC)) -> None:
        self._now = start.astimezone(UTC)
        self._monotonic = 0.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []
        self._came = asyncio.Event()

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        waiter = asyncio.get_running_loop().create_future()
        entry = (self._monotonic + seconds, waiter)
        self._sleepers.append(entry)
        self._came.set()
        try:
            await waiter
        finally:
            if entry in self._sleepers:
                self._sleepers.remove(entry)

    @property
    def sleepers(self) -> list[float]:
        """How many seconds each sleeper still waits, the soonest first."""
        return sorted(due - self._monotonic for due, waiter in self._sleepers if not waiter.done())

    async def until_sleeping(self, count: int = 1, *, within_s: float = 30.0) -> None:
        """Return once `count` tasks sleep on this clock; TimeoutError after `within_s` of real time."""
        async with asyncio.timeout(within_s):
            while len(self.sleepers) < count:
                self._came.clear()
                await self._came.wait()

    def advance(self, seconds: float) -> None:
        """Move both clocks by `seconds` and wake whoever is due, the soonest first."""
        self._now += timedelta(seconds=seconds)
        self._monotonic += seconds
        due = sorted(
            (entry for entry in self._sleepers if entry[0] <= self._monotonic), key=lambda entry: entry[0]
        )
        for entry in due:
            self._sleepers.remove(entry)
            if not entry[1].done():
                entry[1].set_result(None)

    def step_wall_clock(self, seconds: float) -> None:
        """Move the wall clock alone, as a correction of the machine's clock does; it may be negative."""
        self._now += timedelta(seconds=seconds)
