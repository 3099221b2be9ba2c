"""A cron expression: five fields of numbers, read strictly, and what they say.

The grammar of a field: cron_field.py. Which days: days.py. What is refused although it can be read:
spacing.py. When it runs in a zone: recurrence.py.
"""

from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Final

from onechat_scheduler.domain import spacing
from onechat_scheduler.domain.cron_field import DAY, HOUR, MINUTE, MONTH, WEEKDAY, CronRefused, numbers, shown
from onechat_scheduler.domain.days import DayRule

__all__ = ["Cron", "CronRefused", "parse"]

_FIELDS: Final = (MINUTE, HOUR, DAY, MONTH, WEEKDAY)
_SHAPE: Final = "five fields, minute, hour, day of month, month, day of week, such as `0 9 * * 1-5`"
_LONGEST: Final = 500  #: characters; all numbers of all fields in lists are 356
_MACROS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    """When something runs, by the wall clock. The same text gives an equal one."""

    text: str  #: five fields, one space between
    times: tuple[int, ...]  #: minutes since midnight, rising: the same on every day that matches
    days: DayRule
    follows_clock: bool  #: minute or hour begins with `*`: it runs whenever the clock shows such a time

    def matches_day(self, day: date) -> bool:
        """Whether it runs on `day`."""
        return self.days.matches(day)


@lru_cache(maxsize=256)  # the same few expressions are asked for again and again
def parse(text: str) -> Cron:
    """The expression that `text` is.

    Raises CronRefused: it cannot be read, never comes, or its runs can be less than five minutes apart.
    """
    fields = _split(text)
    minutes, hours, days, months, weekdays = map(numbers, fields, _FIELDS)
    stars = [field.startswith("*") for field in fields]
    cron = Cron(
        text=" ".join(fields),
        times=tuple(hour * 60 + minute for hour in sorted(hours) for minute in sorted(minutes)),
        days=DayRule(
            days=tuple(sorted(days)),
            months=tuple(sorted(months)),
            weekdays=weekdays,
            both=stars[2] or stars[4],
        ),
        follows_clock=stars[0] or stars[1],
    )
    spacing.check(cron.times, cron.days)
    return cron


def _split(text: str) -> list[str]:
    """The five fields. Raises CronRefused when there are not five."""
    if len(text) > _LONGEST:
        raise CronRefused(
            f"The cron expression is longer than {_LONGEST} characters: write ranges such as `1-5` instead "
            "of long lists."
        )
    fields = text.split()
    if fields and fields[0].startswith("@"):
        instead = f"`{_MACROS[fields[0].lower()]}`" if fields[0].lower() in _MACROS else _SHAPE
        raise CronRefused(f"{shown(fields[0])} is not taken: write {instead}.")
    if not fields:
        raise CronRefused(f"The cron expression is empty: write {_SHAPE}.")
    if len(fields) != len(_FIELDS):
        written = " ".join(fields)
        count = f"{shown(written)} has {len(fields)} field{'s' * (len(fields) > 1)}"
        for five in (fields[1:], fields[:-1]) if len(fields) == len(_FIELDS) + 1 else ():
            if _is_taken(" ".join(five)):
                raise CronRefused(f"{count}, and takes no seconds and no year: write `{' '.join(five)}`.")
        raise CronRefused(f"{count}: write {_SHAPE}.")
    return fields


def _is_taken(text: str) -> bool:
    try:
        parse(text)
    except CronRefused:
        return False
    return True
