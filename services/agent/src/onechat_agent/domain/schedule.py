"""An agent's schedules, as the scheduler tells of them. Pure; instants are aware and UTC.

When they run is the scheduler service's affair (adapters/scheduler.py).
"""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """What its owner is to be told, and when: either `at` or `cron` is set."""

    number: int  #: never reused
    text: str
    at: str | None  #: local time of its one run, YYYY-MM-DD HH:MM
    cron: str | None  #: five fields of numbers
    next_time: datetime | None  #: past while a run is on its way; None when none will come
    zone: str  #: IANA name, of both
    backed: bool  #: whether the user stood behind it when it was set


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A schedule that was just set."""

    schedule: Schedule
    next_times: tuple[datetime, ...]  #: the next three at the most
    remark: str  #: on a clock change among them; "" without one


class ScheduleRefused(Exception):
    """The scheduler did nothing. Its text is a sentence or two: what is wrong, and what to do instead."""
