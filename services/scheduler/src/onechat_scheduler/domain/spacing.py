"""Whether an expression ever comes, and whether its runs are at least five minutes apart, in all its future.

By the wall clock, without a zone. Exact and without a walk: the times of the day are the same on every day
that matches, so they are compared once, and the last with the first only if two such days ever meet.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from onechat_scheduler.domain.cron_field import CronRefused
from onechat_scheduler.domain.days import DayRule

APART_MIN: Final = 5  #: minutes between two runs of one schedule
_DAY: Final = 24 * 60  #: minutes


def check(times: Sequence[int], days: DayRule) -> None:
    """Refuse what never comes and what comes too often. `times`: minutes since midnight, rising.

    Raises CronRefused.
    """
    if not days.comes():
        raise CronRefused(
            f"This never comes, since the months it names have no day {days.days[0]}: write a day of month "
            f"up to {days.last_day()}."
        )
    for one, other in pairwise(times):
        if other - one < APART_MIN:
            raise CronRefused(_too_close(f"{_clock(one)} and {_clock(other)}", other - one))
    over_midnight = times[0] + _DAY - times[-1]
    if over_midnight < APART_MIN and days.neighbours():
        raise CronRefused(
            _too_close(f"{_clock(times[-1])} and {_clock(times[0])} of the next day", over_midnight)
        )


def _too_close(pair: str, apart: int) -> str:
    minutes = "1 minute" if apart == 1 else f"{apart} minutes"
    return (
        f"Runs must be at least {APART_MIN} minutes apart, but {pair} are {minutes} apart: write minutes "
        "further apart, such as `*/5` or `0,30`."
    )


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"
