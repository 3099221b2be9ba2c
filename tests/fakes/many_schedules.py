"""Schedules of every sort by chance, and when they should run, as another library reads them."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from cronsim import CronSim

from tests.fakes.scheduler_bench import Bench, Running

_MINUTES = ("0", "30", "5,35", "*/30", "0-59/20")
_DAYS = ("1", "15", "31", "1,15", "28-31", "*/10")
_WEEKDAYS = ("1-5", "0,6", "7", "3", "*/2")


def made_cron(rng: random.Random) -> str:
    """An expression, mostly of some runs a week; many lie in the hours in which clocks change."""
    minute = rng.choice(_MINUTES[:3]) if rng.random() < 0.1 else str(rng.randrange(0, 60, 5))
    hour = str(rng.choice((1, 2, 3)) if rng.random() < 0.4 else rng.randrange(24))
    match rng.randrange(100):
        case 0:
            return f"{rng.choice(_MINUTES[3:])} */3 * * *"
        case 1 | 2:
            return f"{minute} */4 * * *"
        case sort if sort < 30:
            return f"{minute} {hour} {rng.choice(_DAYS)} * *"
        case sort if sort < 40:
            return f"{minute} {hour} {rng.choice(_DAYS)} * {rng.choice(_WEEKDAYS)}"
        case sort if sort < 65:
            return f"{minute} {hour} * * {rng.choice(_WEEKDAYS)}"
    return f"{minute} {hour} * * *"


def runs_of(cron: str, zone: ZoneInfo, after: datetime, until: datetime) -> Iterator[datetime]:
    """The instants, UTC, after `after`, up to and at `until`; for zones whose changes are of whole hours."""
    for local in CronSim(cron, after.astimezone(zone)):
        instant = local.astimezone(UTC)
        if instant > until:
            return
        yield instant


class Kept:
    """What was set on a bench, and the runs that should come of it up to `end`."""

    def __init__(self, bench: Bench, end: datetime) -> None:
        self._bench = bench
        self._end = end
        self.runs: dict[int, list[datetime]] = {}  #: by the schedule's id, rising

    async def set(self, running: Running, rng: random.Random, count: int) -> None:
        """Set `count` schedules, one in ten of them for a single time."""
        bench, now = self._bench, self._bench.clock.now()
        for number in range(count):
            if number % 10 == 0:
                minutes = rng.randrange(1, int((self._end - now) / timedelta(minutes=1)))
                instant = now + timedelta(minutes=minutes)
                local = instant.astimezone(bench.zone)
                instant = local.replace(fold=0).astimezone(UTC)  # of a time that comes twice, the first
                made = await running.set(f"task {number}", at=f"{local:%Y-%m-%d %H:%M}")
                self.runs[made.id] = [instant]
            else:
                await self.set_cron(running, made_cron(rng))

    async def set_cron(self, running: Running, cron: str) -> None:
        """Set one with the expression `cron`."""
        made = await running.set(f"task {cron}", cron=cron)
        self.runs[made.id] = list(runs_of(cron, self._bench.zone, self._bench.clock.now(), self._end))

    @property
    def count(self) -> int:
        """How many runs there should be."""
        return sum(map(len, self.runs.values()))
