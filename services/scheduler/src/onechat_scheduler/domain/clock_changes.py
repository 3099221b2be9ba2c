"""When the clocks of a zone change. Pure; the zones' rules come with the tzdata package.

Only changes of the offset from UTC count: one in which summer time begins as standard time moves the other
way is none.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

_STEP: Final = timedelta(days=1)  # no zone goes and comes back within a day


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockChange:
    """A change of a zone's clocks."""

    at: datetime  #: the first instant with the new offset; UTC
    before: timedelta  #: offset from UTC, east positive
    after: timedelta


def offset_at(zone: ZoneInfo, instant: datetime) -> timedelta:
    """How far the clocks of `zone` are ahead of UTC at `instant`."""
    offset = instant.astimezone(zone).utcoffset()
    assert offset is not None, "an aware time has an offset"
    return offset


def change_between(zone: ZoneInfo, start: datetime, end: datetime) -> ClockChange | None:
    """The first change after `start`, up to and at `end`; None when there is none.

    A step for every day between, so decades are milliseconds.
    """
    low = start.astimezone(UTC)
    end = end.astimezone(UTC)
    before = offset_at(zone, low)
    while low < end:
        high = min(low + _STEP, end)
        if offset_at(zone, high) != before:
            return _narrowed(zone, low, high, before)
        low = high
    return None


def _narrowed(zone: ZoneInfo, low: datetime, high: datetime, before: timedelta) -> ClockChange:
    """The change in (low, high], by halves. The rules know nothing finer than seconds."""
    start = low.replace(microsecond=0)
    same, other = 0, int((high - start).total_seconds())
    while other - same > 1:
        middle = (same + other) // 2
        if offset_at(zone, start + timedelta(seconds=middle)) == before:
            same = middle
        else:
            other = middle
    at = start + timedelta(seconds=other)
    return ClockChange(at=at, before=before, after=offset_at(zone, at))
