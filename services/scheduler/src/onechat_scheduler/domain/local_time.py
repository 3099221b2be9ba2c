"""Local times of a zone and the instants they are, also where a clock change skips or repeats them.

Wall times are datetimes without a zone, instants are aware and UTC. Recurring times: recurrence.py.
"""

import calendar
import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from onechat_scheduler.domain.clock_changes import change_between

_SHAPE: Final = "YYYY-MM-DD HH:MM"
_EXACT: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2})", re.ASCII)
_LOOSE: Final = re.compile(
    r"(?:(?:(?P<year>\d{4})[-/.])?(?P<month>\d{1,2})(?(year)[-/.]|-)(?P<day>\d{1,2})[ T]+)?"
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})",
    re.ASCII,
)
_SHOWN: Final = 40  #: characters of what was written that a refusal repeats
_YEARS: Final = range(2, 9999)  # the calendar's first and last have no room for the offsets of zones
_MINUTE: Final = timedelta(minutes=1)


class TimeRefused(ValueError):
    """The time cannot be taken; the text is one sentence that says what to write instead."""


def local(instant: datetime, zone: ZoneInfo) -> str:
    """What clocks in `zone` show at `instant`: `YYYY-MM-DD HH:MM`."""
    return shown(instant.astimezone(zone))


def shown(wall: datetime) -> str:
    """`YYYY-MM-DD HH:MM`, whatever the year."""
    return f"{wall.year:04}-{wall:%m-%d %H:%M}"


def readings(wall: datetime, zone: ZoneInfo) -> tuple[datetime, ...]:
    """The instants at which clocks in `zone` show `wall`, rising: none in a gap, two when it comes twice."""
    first = wall.replace(tzinfo=zone).utcoffset()
    second = wall.replace(tzinfo=zone, fold=1).utcoffset()
    assert first is not None, "a zone has an offset at any wall time"
    assert second is not None, "a zone has an offset at any wall time"
    if first == second:
        return ((wall - first).replace(tzinfo=UTC),)
    if first < second:  # in a gap the offset before it is the first
        return ()
    return (wall - first).replace(tzinfo=UTC), (wall - second).replace(tzinfo=UTC)


def after_gap(wall: datetime, zone: ZoneInfo) -> datetime:
    """The first instant after the gap in which `wall` lies."""
    before = wall.replace(tzinfo=zone).utcoffset()
    after = wall.replace(tzinfo=zone, fold=1).utcoffset()
    assert before is not None, "a zone has an offset at any wall time"
    assert after is not None, "a zone has an offset at any wall time"
    change = change_between(
        zone, (wall - after).replace(tzinfo=UTC) - _MINUTE, (wall - before).replace(tzinfo=UTC)
    )
    assert change is not None, "a gap is a change of the clocks"
    return change.at


def instant_of(text: str, zone: ZoneInfo, now: datetime) -> datetime:
    """The instant that the local time `text`, `YYYY-MM-DD HH:MM` in `zone`, is; the first of two.

    Raises TimeRefused: not such a time, not after `now`, or in a gap, then with the times around it.
    """
    wall = _wall(text, zone, now)
    known = readings(wall, zone)
    instant = known[0] if known else after_gap(wall, zone)
    if instant <= now:
        raise TimeRefused(
            f"{shown(wall)} in {zone.key} is past, since it is {local(now, zone)} there now: write a later "
            "time."
        )
    if not known:
        raise TimeRefused(
            f"There is no {shown(wall)} in {zone.key}, since the clocks go forward then: write "
            f"{local(instant - _MINUTE, zone)} or {local(instant, zone)}."
        )
    return instant


def _wall(text: str, zone: ZoneInfo, now: datetime) -> datetime:
    """The wall time that is written in `text`. Raises TimeRefused."""
    if not (written := _EXACT.fullmatch(text)):
        raise TimeRefused(_what_to_write(text, zone, now))
    year, month, day, hour, minute = map(int, written.groups())
    if year not in _YEARS:
        raise TimeRefused(f"There is no year {year:04} here: write one from {now.year} to {_YEARS[-1]}.")
    if not 1 <= month <= 12:
        raise TimeRefused(f"There is no month {month:02} in {quoted(text)}: write 01 to 12, as {_SHAPE}.")
    last = calendar.monthrange(year, month)[1]
    if not 1 <= day <= last:
        raise TimeRefused(
            f"There is no {text[:10]}: write a day of that month from {text[:8]}01 to {text[:8]}{last}."
        )
    if (hour, minute) == (24, 0):
        midnight = datetime.combine(date(year, month, day), time()) + timedelta(days=1)
        raise TimeRefused(f"There is no 24:00: write {shown(midnight)}.")
    if hour > 23 or minute > 59:
        raise TimeRefused(f"There is no {text[11:]} on a clock: write a time from 00:00 to 23:59.")
    return datetime.combine(date(year, month, day), time(hour, minute))


def _what_to_write(text: str, zone: ZoneInfo, now: datetime) -> str:
    """The sentence for what is not of the shape; it names the time that was probably meant, where it can.

    Raises TimeRefused when that one cannot be taken either.
    """
    today = now.astimezone(zone).replace(tzinfo=None)
    tomorrow = shown(datetime.combine(today.date() + timedelta(days=1), time(9)))
    if not text.strip():
        return f"The time is empty: write {_SHAPE}, such as {tomorrow}."
    if day := _iso_day(text):
        return f"{quoted(text)} has no time of day: write it as well, as {day} HH:MM."
    meant = _iso_time(text, zone)
    loose = _LOOSE.fullmatch(text.strip())
    if loose and not meant:
        meant = _next_such(loose, today)
    if meant:
        instant_of(shown(meant), zone, now)  # a time that is past or skipped is nothing to be told to write
    if meant and loose and not loose["year"]:
        lacks = "year" if loose["month"] else "date"
        return f"{quoted(text)} has no {lacks}: write {shown(meant)}, if that is meant."
    if meant:
        return f"{quoted(text)} is not of the form {_SHAPE}, in {zone.key} time: write {shown(meant)}."
    return f"{quoted(text)} is not a time: write {_SHAPE} in {zone.key} time, such as {tomorrow}."


def _iso_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _iso_time(text: str, zone: ZoneInfo) -> datetime | None:
    """The wall time in `zone` of what has seconds, an offset, or another form of ISO 8601."""
    try:
        meant = datetime.fromisoformat(text)
        return meant.astimezone(zone).replace(tzinfo=None) if meant.tzinfo else meant
    except (ValueError, OverflowError):
        return None


def _next_such(loose: re.Match[str], today: datetime) -> datetime | None:
    """The time that was written, or the next with its day or time of day; None when there is no such."""
    year, month, day, hour, minute = (int(part) if part else 0 for part in loose.groups())
    if hour > 23 or minute > 59:
        return None
    at = time(hour, minute)
    if not month and not day:
        same_day = datetime.combine(today.date(), at)
        return same_day if same_day > today else same_day + timedelta(days=1)
    for some_year in [year] if year else range(today.year, today.year + 9):  # 29 February: up to 8 years
        if 1 <= month <= 12 and 1 <= day <= calendar.monthrange(some_year, month)[1]:
            found = datetime.combine(date(some_year, month, day), at)
            if year or found > today:
                return found
    return None


def quoted(text: str) -> str:
    """`text` as a refusal repeats it: cut when it is long, on one line; nothing in it ends the quotation."""
    line = " ".join(text.replace("`", "'").split())
    return f"`{line if len(line) <= _SHOWN else line[: _SHOWN - 1] + '…'}`"
