"""Random expressions beside two other readings of cron: cronsim's, and the one that refusals go by.

cronsim is right around changes by whole hours that do not skip midnight.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from onechat_scheduler.domain.cron import Cron, CronRefused, parse
from onechat_scheduler.domain.recurrence import next_run

# Both changes of each zone: the clock goes forward at the first instant, back at the second.
CHANGES = {
    "Europe/Rome": ("2027-03-28T01:00Z", "2026-10-25T01:00Z"),
    "America/New_York": ("2027-03-14T07:00Z", "2026-11-01T06:00Z"),
    "America/St_Johns": ("2027-03-14T05:30Z", "2026-11-01T04:30Z"),
    "Australia/Sydney": ("2026-10-03T16:00Z", "2027-04-03T16:00Z"),
    "Pacific/Auckland": ("2026-09-26T14:00Z", "2027-04-03T14:00Z"),
}
SIDE = timedelta(hours=12)
QUICK = settings(
    deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.filter_too_much]
)


def field(low: int, high: int, *, step_min: int = 1, favourites: str = "*") -> st.SearchStrategy[str]:
    """A field of numbers from `low` to `high`: stars, single numbers, lists, ranges, and steps on them."""
    number = st.integers(low, high)
    step = st.integers(step_min, max(step_min, (high - low) // 2))
    ends = st.tuples(number, number).filter(lambda two: two[0] < two[1])  # cronsim reads 5-5/2 as 5/2
    ranges = ends.map(lambda two: f"{two[0]}-{two[1]}")
    term = st.one_of(
        number.map(str),
        ranges if step_min == 1 else number.map(str),
        st.tuples(st.one_of(st.just("*"), ranges), step).map(lambda two: f"{two[0]}/{two[1]}"),
    )
    lists = st.lists(term, min_size=1, max_size=3).map(",".join)
    return st.one_of(st.sampled_from(favourites.split()), term, lists)


MINUTES = st.one_of(
    field(0, 59, step_min=5, favourites="0 30 */15 */5 59"),
    st.lists(st.integers(0, 11).map(lambda fifth: str(fifth * 5)), min_size=1, max_size=4).map(",".join),
)
HOURS = field(0, 23, favourites="* */2 0 1 2 3 23 0-3 1,2")
EVERY = st.sampled_from(["*", "*/2", "*/1"])  # else few would run on the days that are looked at
DAYS = st.one_of(EVERY, EVERY, field(1, 31))
MONTHS = st.one_of(st.just("*"), st.just("1-12"), field(1, 12))
WEEKDAYS = st.one_of(EVERY, EVERY, field(0, 7, favourites="* 0 7 5-7"))
EXPRESSIONS = st.tuples(MINUTES, HOURS, DAYS, MONTHS, WEEKDAYS).map(" ".join)


def taken(text: str) -> Cron:
    """The expression, if it is not refused for runs that are too close or never come."""
    try:
        return parse(text)
    except CronRefused as refused:
        assume("apart" not in str(refused) and "never" not in str(refused))
        raise


def runs(cron: Cron, zone: ZoneInfo, after: datetime, until: datetime) -> Iterator[datetime]:
    while (run := next_run(cron, zone, after)) and run <= until:
        yield run
        after = run


def simulated(text: str, zone: ZoneInfo, after: datetime, until: datetime) -> Iterator[datetime]:
    every = (run.astimezone(UTC) for run in CronSim(text, after.astimezone(zone)))
    return takewhile(lambda run: run <= until, every)


def expect_the_same_as_cronsim(text: str) -> None:
    """Around both changes of all zones, every run."""
    cron = taken(text)
    for name, changes in CHANGES.items():
        zone = ZoneInfo(name)
        for change in changes:
            after = datetime.fromisoformat(change) - SIDE
            until = after + 2 * SIDE
            found = [*runs(cron, zone, after, until)]

            assert found == [*simulated(text, zone, after, until)], f"{text} in {name} at {change}"


@settings(QUICK, max_examples=20)
@given(EXPRESSIONS)
def test_runs_around_clock_changes_are_those_of_cronsim(text):
    expect_the_same_as_cronsim(text)


@pytest.mark.soak
@pytest.mark.timeout(1200)
@settings(QUICK, max_examples=2000)
@given(EXPRESSIONS)
def test_two_thousand_expressions_run_around_clock_changes_as_those_of_cronsim(text):
    expect_the_same_as_cronsim(text)


@settings(QUICK, max_examples=50)
@given(EXPRESSIONS, st.integers(0, 4 * 365))
def test_it_runs_on_the_days_and_at_the_times_by_which_expressions_are_refused(text, days):
    cron, utc = taken(text), ZoneInfo("UTC")
    day = datetime(2026, 12, 1, tzinfo=utc) + timedelta(days=days)
    expected = [
        midnight + timedelta(minutes=minutes)
        for midnight in (day, day + timedelta(days=1))
        if cron.matches_day(midnight.date())
        for minutes in cron.times
    ]

    runs, after = [], day - timedelta(minutes=1)
    while (run := next_run(cron, utc, after)) and run < day + timedelta(days=2):
        runs.append(run)
        after = run
    assert runs == expected
