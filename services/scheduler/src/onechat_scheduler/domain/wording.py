"""How a run is worded for the agent, and a change of the clocks for whoever sets a schedule. Pure.

Times are shown in the user's zone. What was missed: recurrence.py. When the clocks change: clock_changes.py.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from onechat_scheduler.domain.clock_changes import change_between
from onechat_scheduler.domain.recurrence import Missed
from onechat_scheduler.domain.schedule import Schedule

LATE: Final = timedelta(seconds=10)  #: a run that is recorded so long after it was due says so
# A change so shortly before the first run bears on it, which may be moved by it.
_NEAR: Final = timedelta(days=1)
# Known rules that change the clocks do so sooner; looking on to the last of many rare runs takes seconds.
_FAR: Final = timedelta(days=20 * 365)
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_UNITS: Final = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


def run_text(schedule: Schedule, due: datetime, now: datetime, missed: Missed | None, zone: ZoneInfo) -> str:
    """What the owner gets for the run that was due at `due` and is recorded at `now`.

    `missed` is all that came since the last run, the one at `due` being the latest; None for a single time.
    """
    remark = _lateness(due, now, missed, zone)
    said = f"[Schedule {schedule.id}] {schedule.text}"
    return f"{said}\n({remark})" if remark else said


def _lateness(due: datetime, now: datetime, missed: Missed | None, zone: ZoneInfo) -> str:
    late = now - due >= LATE
    if missed is None or missed.count == 1:
        if not late:
            return ""
        return f"This run is {_period(now - due)} late: it was due on {_shown(due, zone)}, {zone.key}."
    number = f"more than {missed.count:,}" if missed.is_more else f"{missed.count:,}"
    told = f"This is one run for the {number} that were due since {_shown(missed.first, zone)}, {zone.key}"
    return f"{told}; the latest is {_period(now - due)} late." if late else f"{told}."


def remark(zone: ZoneInfo, times: Sequence[datetime], now: datetime) -> str:
    """That the clocks change among the runs at `times`, in their order, or in the day before the first.

    "" when they do not, or when there is no run.
    """
    if not times:
        return ""
    start = max(now, times[0] - _NEAR)
    end = start + min(times[-1] - start, _FAR)  # the calendar may end before `_FAR` does
    change = change_between(zone, start, end)
    if change is None:
        return ""
    forward = change.after > change.before
    step = _period(abs(change.after - change.before))
    was, becomes = change.at + change.before, change.at + change.after
    told = (
        f"The clocks go {'forward' if forward else 'back'} {step}"
        f" on {_WEEKDAYS[was.weekday()]} {was:%Y-%m-%d}: {was:%H:%M} becomes {becomes:%H:%M}."
    )
    again = change_between(zone, change.at, end)
    return f"{told} They change again before the last of these runs." if again else told


def _shown(instant: datetime, zone: ZoneInfo) -> str:
    return f"{instant.astimezone(zone):%Y-%m-%d at %H:%M}"


def _period(period: timedelta) -> str:
    """`period` in its two largest units, such as "2 hours 5 minutes"; what is smaller is left out."""
    left = int(period.total_seconds())
    for place, (_, seconds) in enumerate(_UNITS):
        if left >= seconds:
            largest = _UNITS[place : place + 2]
            break
    else:
        return "0 seconds"
    told = []
    for name, seconds in largest:
        count, left = divmod(left, seconds)
        if count:
            told.append(f"{count} {name}{'' if count == 1 else 's'}")
    return " ".join(told)
