"""Which days an expression names, over all the days there are. Vixie cron's rule for its two day fields.

The calendar comes round every 400 years, and in that time every day of the year, 29 February among them,
falls on every day of the week, in years of every kind. So a month, a day and a day of the week that match
together come at some time, and no year has to be looked at. Times of the day: cron.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

_LONGEST = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)  # days of a month, in a leap year


@dataclass(frozen=True, slots=True, kw_only=True)
class DayRule:
    """The days that match, by month, day of the month and day of the week."""

    days: tuple[int, ...]  #: of the month, rising
    months: tuple[int, ...]  #: 1 to 12, rising
    weekdays: frozenset[int]  #: 0 to 6, Sunday 0
    both: bool  #: a day must match day and day of the week; else one of them is enough

    def matches(self, day: date) -> bool:
        """Whether it runs on `day`."""
        return day.month in self.months and self._names(day.day, day.isoweekday() % 7)

    def comes(self) -> bool:
        """Whether there is any day that matches."""
        return not self.both or self.days[0] <= self.last_day()

    def last_day(self) -> int:
        """The last day of the longest of the months."""
        return max(_LONGEST[month] for month in self.months)

    def neighbours(self) -> bool:
        """Whether there are two days that match, one right after the other."""
        return any(
            self._names(day, weekday) and self._names(next_day, (weekday + 1) % 7)
            for month in self.months
            for day, next_month, next_day in _in_turn(month)
            if next_month in self.months
            for weekday in range(7)
        )

    def _names(self, day: int, weekday: int) -> bool:
        if self.both:
            return day in self.days and weekday in self.weekdays
        return day in self.days or weekday in self.weekdays


def _in_turn(month: int) -> Iterator[tuple[int, int, int]]:
    """Each day of `month` in some year, and the month and day of the day after it."""
    after = month % 12 + 1
    for day in range(1, _LONGEST[month]):
        yield day, month, day + 1
    if month == 2:
        yield 28, after, 1
    yield _LONGEST[month], after, 1
