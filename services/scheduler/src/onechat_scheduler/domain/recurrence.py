"""When a cron expression runs in a zone. Pure: the instant to start from is an argument.

croniter finds the wall times, without a zone; each is then read in the zone here. A fixed time that a clock
skips runs at the first minute after the gap, one that comes twice at its first. An expression whose
minute or hour begins with `*` follows the clock as it is, through both: it runs whenever the clock shows such
a time. Instants are aware and UTC. Source: Debian's cron.
"""

from bisect import bisect_right
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import islice, takewhile
from typing import Final
from zoneinfo import ZoneInfo

from croniter import croniter

from onechat_scheduler.domain.clock_changes import offset_at
from onechat_scheduler.domain.cron import Cron
from onechat_scheduler.domain.local_time import after_gap, readings

COUNT_MAX: Final = 1_000  #: missed runs are counted up to here
_LAST_DAY: Final = date(MAXYEAR, 12, 30)  # the day after it has no room for the offsets of zones
_ANY_WALL: Final = datetime(2000, 1, 1)  # noqa: DTZ001 - a wall time has no zone
_YEARS_APART_MAX: Final = 100  # 29 February on one day of the week comes after 40 years at the latest
_MINUTE: Final = timedelta(minutes=1)
_NONE: Final = timedelta(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """Runs that came due between two instants."""

    count: int  #: at most COUNT_MAX
    is_more: bool  #: there were more than `count`
    first: datetime
    latest: datetime  #: of all, counted or not


def next_run(cron: Cron, zone: ZoneInfo, after: datetime) -> datetime | None:
    """The first run after `after`; None when there is none before the calendar ends, with the year 9999."""
    shows = after.astimezone(zone)
    wall = shows.replace(tzinfo=None, fold=0)
    run = _first_after(cron, zone, wall, after)
    if cron.follows_clock and (back := _goes_back(shows)) > _NONE:
        again = _first_after(cron, zone, wall - back, after)  # the clock will show these times once more
        return min(run, again) if run and again else run or again
    return run


def next_runs(cron: Cron, zone: ZoneInfo, after: datetime, count: int) -> list[datetime]:
    """The first `count` runs after `after`, rising; fewer when the calendar ends."""
    return list(islice(_runs(cron, zone, after), count))


def missed(cron: Cron, zone: ZoneInfo, after: datetime, until: datetime) -> Missed | None:
    """The runs after `after`, up to and at `until`; None when there is none."""
    runs = list(islice(takewhile(lambda run: run <= until, _runs(cron, zone, after)), COUNT_MAX + 1))
    if not runs:
        return None
    is_more = len(runs) > COUNT_MAX
    return Missed(
        count=min(len(runs), COUNT_MAX),
        is_more=is_more,
        first=runs[0],
        latest=_latest(cron, zone, runs[-1], until) if is_more else runs[-1],
    )


def _runs(cron: Cron, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """All runs after `after`, rising."""
    run = next_run(cron, zone, after)
    while run:
        yield run
        for later in _later_that_day(cron, zone, run):
            run = later
            yield run
        run = next_run(cron, zone, run)


def _later_that_day(cron: Cron, zone: ZoneInfo, run: datetime) -> Iterator[datetime]:
    """The runs after `run` on its day, if no clock change comes near: then they differ as wall times do."""
    try:
        near = {offset_at(zone, run + timedelta(days=days)) for days in (0, 2)}
    except OverflowError:  # at the end of the calendar
        return
    if len(near) > 1:
        return
    shows = run.astimezone(zone)
    minute = shows.hour * 60 + shows.minute
    for minutes in cron.times[bisect_right(cron.times, minute) :]:
        yield run + timedelta(minutes=minutes - minute)


def _latest(cron: Cron, zone: ZoneInfo, known: datetime, until: datetime) -> datetime:
    """The last run up to and at `until`, by halves from `known`, an earlier one."""
    none_after = until
    while none_after - known >= _MINUTE:
        middle = known + (none_after - known) / 2
        run = next_run(cron, zone, middle)
        if run and run <= until:
            known = run
        else:
            none_after = middle
    return known


def _first_after(cron: Cron, zone: ZoneInfo, wall: datetime, after: datetime) -> datetime | None:
    """The first run after `after` among the wall times after `wall`, taken in their order."""
    for time_of_day in _walls(cron, wall):
        instants = readings(time_of_day, zone)
        if not cron.follows_clock:
            instants = instants[:1] or (_whole_minute(after_gap(time_of_day, zone), zone),)
        for instant in instants:
            if instant > after:
                return instant
    return None


def _walls(cron: Cron, after: datetime) -> Iterator[datetime]:
    """The wall times after the minute of `after` that the expression names, rising."""
    calendar = copy(_calendar(cron))  # it holds the place at which it is; threads must not share that
    calendar.set_current(after.replace(second=0, microsecond=0))
    try:
        while (wall := calendar.get_next()).date() <= _LAST_DAY:
            yield wall
    except (ValueError, OverflowError):  # what croniter and the calendar say at its end
        return


@lru_cache(maxsize=256)  # to read an expression takes as long as several steps
def _calendar(cron: Cron) -> croniter:
    """`cron` as croniter reads it: day fields as Vixie cron has them, and dates up to a century apart."""
    return croniter(
        _without_days_that_never_come(cron),
        _ANY_WALL,
        ret_type=datetime,
        implement_cron_bug=True,
        max_years_between_matches=_YEARS_APART_MAX,
    )


def _without_days_that_never_come(cron: Cron) -> str:
    """Its text, by the days of the week alone where its months have none of its days.

    For each run, croniter would look for such a day through a century.
    """
    if cron.days.both or cron.days.days[0] <= cron.days.last_day():
        return cron.text
    minute, hour, _, month, weekday = cron.text.split()
    return f"{minute} {hour} * {month} {weekday}"


def _goes_back(shows: datetime) -> timedelta:
    """How far the clock is going to be set back, when what it shows comes twice and this is the first."""
    now, then = shows.utcoffset(), shows.replace(fold=1).utcoffset()
    assert now is not None, "an aware time has an offset"
    assert then is not None, "an aware time has an offset"
    return max(now - then, _NONE)


def _whole_minute(instant: datetime, zone: ZoneInfo) -> datetime:
    """`instant`, or the minute after it by the zone's clocks; zones had odd seconds long ago."""
    odd = instant.astimezone(zone).second
    return instant + timedelta(seconds=60 - odd) if odd else instant.astimezone(UTC)
