"""Plain words about schedules: to set one, to list them, to remove one; and a run of one. Pure.

Words such as "in 5 minutes" go by the clock of the state block, which stands still for a turn; without one
they ask for nothing. What is impossible, such as a past time, is left to the scheduler to refuse.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

Wanted = tuple[str, Mapping[str, object]]  # a tool and its arguments

_FLAGS: Final = re.IGNORECASE | re.DOTALL
_REMIND: Final = re.compile(r"remind\s{1,3}me\s{1,3}(.{2,60}?)(?::\s|\s{1,3}to\s)\s*(\S.*)", _FLAGS)
_REMIND_TO: Final = re.compile(r"remind\s{1,3}me\s{1,3}to\s{1,3}(\S.*)", _FLAGS)
_REPEATED: Final = re.compile(r"((?:every|daily|on\s{1,3}\w{3,10}s)\s.{1,40}?):\s\s*(\S.*)", _FLAGS)
_SCHEDULE: Final = re.compile(r"schedule\s{1,3}([\d*][\d*/, -]{4,60}?):\s\s*(\S.*)", _FLAGS)
_LIST: Final = re.compile(
    r"(?:list|show)(?:\s{1,3}me)?(?:\s{1,3}all)?(?:\s{1,3}(?:my|your|the))?\s{1,3}(?:schedules|reminders)\W*"
    r"|(?:what|which)\s{1,3}(?:are\s{1,3}(?:my|your|the)\s{1,3})?(?:schedules|reminders)(?:\s{1,3}do\s{1,3}(?:i|you)\s{1,3}have)?\W*",
    _FLAGS,
)
_REMOVE: Final = re.compile(
    r"(?:remove|delete|cancel)\s{1,3}(?:the\s{1,3})?(?:schedule|reminder)\s{1,3}(?:number\s{1,3})?#?(\d{1,18})\W*",
    _FLAGS,
)
_TAIL: Final = 50  # characters at the end of "remind me to TEXT WHEN" in which WHEN stands
_TAIL_STARTS: Final = re.compile(r"\s(?=(?:at|on|in|every|tomorrow|daily)\s)", re.IGNORECASE)
_CLOCK: Final = r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?"
_DATE: Final = re.compile(
    r"(?:(?:at|on)\s+)?(?P<day>\d{4}-\d{2}-\d{2})(?:\s+at)?(?:\s+|T)(?P<clock>\d{1,2}:\d{2})", re.IGNORECASE
)
_SOON: Final = re.compile(
    r"in\s+(?P<count>\d{1,4}|an?)\s+(?P<unit>minute|hour|day)s?(?:\s+time)?", re.IGNORECASE
)
_TODAY: Final = re.compile(rf"(?P<tomorrow>tomorrow\s+)?at\s+{_CLOCK}", re.IGNORECASE)
_DAILY: Final = re.compile(
    rf"(?:every\s+(?P<one>\w+)|on\s+(?P<many>\w+)s|(?P<daily>daily))\s+at\s+{_CLOCK}", re.IGNORECASE
)
_OFTEN: Final = re.compile(r"every\s+(?:(?P<count>\d{1,2})\s+)?(?P<unit>minute|hour)s?", re.IGNORECASE)
_WEEKDAYS: Final = {
    "sunday": "0",
    "monday": "1",
    "tuesday": "2",
    "wednesday": "3",
    "thursday": "4",
    "friday": "5",
    "saturday": "6",
    "day": "*",
    "workday": "1-5",
    "weekday": "1-5",
}
_MINUTES: Final = {"minute": 1, "hour": 60, "day": 1_440}
_RUN: Final = re.compile(r"(?:\A|\n)\[Schedule (\d+)\] ")
_LATE: Final = re.compile(r"\n\((This [^\n]*)\)\s*\Z")
_NOW: Final = re.compile(r"(\d{4}-\d{2}-\d{2}) (\d{1,2}:\d{2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A run of a schedule, as its message tells it."""

    number: str
    task: str
    late: str  #: what is said of a late one; "" in time

    def words(self) -> str:
        """It, as a reply."""
        return f"It is time for schedule {self.number}: {self.task}" + (f"\n{self.late}" if self.late else "")


def due_in(text: str) -> Due | None:
    """The run that a message of work holds; None when it is another message."""
    found = _RUN.search(text)
    if found is None:
        return None
    task = text[found.end() :]
    late = _LATE.search(task)
    return Due(
        number=found[1],
        task=(task[: late.start()] if late else task).strip(),
        late=late[1] if late else "",
    )


def clock_of(state: str) -> datetime | None:
    """The local time that a state block shows; None where it shows none."""
    found = _NOW.search(state)
    return None if found is None else _instant(found[1], found[2])


def wanted_in(clause: str, now: datetime | None) -> Wanted | None:
    """What `clause` wants of the schedules; `now` is the local time, where it is known."""
    if _LIST.fullmatch(clause):
        return "schedule_list", {}
    if found := _REMOVE.fullmatch(clause):
        return "schedule_remove", {"id": int(found[1])}
    return set_in(clause, now)


def set_in(clause: str, now: datetime | None) -> Wanted | None:
    """The schedule that `clause` asks to set; all that follows its time, or stands before it, is the text."""
    if found := _SCHEDULE.fullmatch(clause):
        return _set({"cron": found[1].strip()}, found[2])
    for pattern in (_REMIND, _REPEATED):
        if (found := pattern.fullmatch(clause)) and (when := _when(found[1].strip(), now)):
            return _set(when, found[2])
    if found := _REMIND_TO.fullmatch(clause):
        return _with_time_last(found[1].rstrip().rstrip(".!?"), now)
    return None


def _with_time_last(words: str, now: datetime | None) -> Wanted | None:
    edge = max(len(words) - _TAIL, 1)
    for start in _TAIL_STARTS.finditer(words, edge):
        if when := _when(words[start.end() :], now):
            return _set(when, words[: start.start()])
    return None


def _set(when: Mapping[str, object], text: str) -> Wanted:
    return "schedule_set", {"text": text.strip(), **when}


def _when(words: str, now: datetime | None) -> Mapping[str, object] | None:
    """`words` as `at` or `cron`; None when they are no time."""
    if found := _DATE.fullmatch(words):
        return {"at": f"{found['day']} {found['clock'].rjust(5, '0')}"}
    if found := _DAILY.fullmatch(words):
        return _daily(found)
    if found := _OFTEN.fullmatch(words):
        return _often(int(found["count"] or 1), found["unit"].lower())
    if now is None:
        return None
    if found := _SOON.fullmatch(words):
        count = int(found["count"]) if found["count"].isdecimal() else 1
        # The block shows no seconds: one minute more, so that it is not less than was asked for.
        return _at(now + timedelta(minutes=count * _MINUTES[found["unit"].lower()] + 1))
    if (found := _TODAY.fullmatch(words)) and (clock := _clock(found)):
        then = now.replace(hour=clock[0], minute=clock[1])
        return _at(then + timedelta(days=1) if found["tomorrow"] or then <= now else then)
    return None


def _daily(found: re.Match[str]) -> Mapping[str, object] | None:
    day = "day" if found["daily"] else str(found["one"] or found["many"]).lower()
    clock = _clock(found)
    if day not in _WEEKDAYS or clock is None:
        return None
    return {"cron": f"{clock[1]} {clock[0]} * * {_WEEKDAYS[day]}"}


def _often(count: int, unit: str) -> Mapping[str, object] | None:
    """Steps begin anew each hour or day, so only those that divide it are as far apart as was asked."""
    if count and (60 if unit == "minute" else 24) % count:
        return None
    return {"cron": f"*/{count} * * * *" if unit == "minute" else f"0 */{count} * * *"}


def _clock(found: re.Match[str]) -> tuple[int, int] | None:
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    return (hour, minute) if hour < 24 and minute < 60 else None


def _at(time: datetime) -> Mapping[str, object]:
    return {"at": f"{time:%Y-%m-%d %H:%M}"}


def _instant(day: str, clock: str) -> datetime | None:
    try:
        return datetime.fromisoformat(f"{day} {clock.rjust(5, '0')}")
    except ValueError:
        return None
