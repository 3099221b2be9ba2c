"""Runs around odd clock changes, against a look at what the clocks show at every minute."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from onechat_scheduler.domain.cron import Cron, CronRefused, parse
from onechat_scheduler.domain.recurrence import next_run, next_runs

MINUTE = timedelta(minutes=1)


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def runs_between(cron: Cron, zone: ZoneInfo, after: datetime, until: datetime) -> Iterator[datetime]:
    """The runs in (after, until], each found from the one before."""
    while (run := next_run(cron, zone, after)) and run <= until:
        yield run
        after = run


# Hours around a change of the clocks, in zones that change them in every way there is.
CHANGES = [
    ("Europe/Rome", "2027-03-28T01:00Z"),
    ("Europe/Rome", "2026-10-25T01:00Z"),
    ("America/New_York", "2027-03-14T07:00Z"),
    ("America/New_York", "2026-11-01T06:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T15:30Z"),  # by half an hour
    ("Australia/Lord_Howe", "2027-04-03T15:00Z"),
    ("Antarctica/Troll", "2027-03-28T01:00Z"),  # by two hours
    ("Antarctica/Troll", "2026-10-25T01:00Z"),
    ("America/Havana", "2027-03-14T05:00Z"),  # no midnight
    ("America/Havana", "2026-11-01T05:00Z"),
    ("America/Santiago", "2026-09-06T04:00Z"),
    ("America/Santiago", "2027-04-04T03:00Z"),  # back over midnight, to the day before
    ("Africa/Casablanca", "2027-02-07T02:00Z"),
    ("Europe/Dublin", "2027-03-28T01:00Z"),
    ("Pacific/Apia", "2011-12-30T10:00Z"),  # no 30 December
    ("Pacific/Kwajalein", "1993-08-21T12:00Z"),  # no 21 August
    ("Asia/Kathmandu", "1985-12-31T18:30Z"),  # by a quarter of an hour
    ("America/Caracas", "2007-12-09T07:00Z"),
    ("Asia/Pyongyang", "2018-05-04T15:00Z"),
    ("Asia/Tokyo", "2027-03-28T01:00Z"),  # none
]
SIDE = timedelta(hours=14)
MARGIN = timedelta(hours=30)


@dataclass(frozen=True)
class Clock:
    """What the clocks of a zone show, minute by minute."""

    shows: dict[datetime, datetime]  #: wall time by instant, rising
    first: dict[datetime, datetime]  #: the first instant at which they show a wall time
    jumps: list[tuple[datetime, datetime, datetime]]  #: walls before and after a jump, and its instant

    def at(self, wall: datetime) -> datetime:
        """The first instant at which they show `wall`, or have jumped over it."""
        if wall in self.first:
            return self.first[wall]
        return next(at for before, after, at in self.jumps if before < wall < after)


@cache
def clock(name: str, middle: str) -> Clock:
    zone, start = ZoneInfo(name), instant(middle) - SIDE - MARGIN
    minutes = (start + minute * MINUTE for minute in range(2 * (SIDE + MARGIN) // MINUTE))
    shows = {at: at.astimezone(zone).replace(tzinfo=None, fold=0) for at in minutes}
    first: dict[datetime, datetime] = {}
    for at, wall in shows.items():
        first.setdefault(wall, at)
    jumps = [
        (before, after, at) for (_, before), (at, after) in pairwise(shows.items()) if after - before > MINUTE
    ]
    return Clock(shows, first, jumps)


def walked(text: str, watched: Clock, after: datetime, until: datetime) -> list[datetime]:
    """The runs in (after, until], by a look at every minute; the expression is read here once more."""
    minutes, hours, days, months, weekdays = (
        named(field, *ends)
        for field, ends in zip(text.split(), [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)], strict=True)
    )
    stars = [field[0] == "*" for field in text.split()]

    def matches(wall: datetime) -> bool:
        two = (wall.day in days, bool({wall.isoweekday(), wall.isoweekday() % 7} & weekdays))
        day = all(two) if stars[2] or stars[4] else any(two)
        return wall.minute in minutes and wall.hour in hours and wall.month in months and day

    if stars[0] or stars[1]:
        return [at for at, wall in watched.shows.items() if after < at <= until and matches(wall)]
    starts, ends = (watched.shows[edge] for edge in (after, until))
    walls = (
        starts + minute * MINUTE
        for minute in range(-(MARGIN - MINUTE) // MINUTE, (ends - starts + MARGIN) // MINUTE)
    )
    found = {watched.at(wall) for wall in walls if matches(wall) and starts - SIDE < wall < ends + SIDE}
    return sorted(at for at in found if after < at <= until)


def named(field: str, low: int, high: int) -> set[int]:
    """The numbers of a field."""
    found: set[int] = set()
    for term in field.split(","):
        body, _, step = term.partition("/")
        first, _, last = body.replace("*", f"{low}-{high}").partition("-")
        found |= {*range(int(first), int(last or first) + 1, int(step or 1))}
    return found


def some_expression(rng: random.Random, near: datetime) -> str:
    """One that the five-minute rule takes, often with runs at the hour and on the day of `near`."""
    hour = near.hour

    def some(*choices: str) -> str:
        return rng.choice(choices)

    text = " ".join(
        [
            some("0", "30", "59", "*/15", "*/5", "0,30", "5-55/10", "15,45", str(rng.randrange(60))),
            some("*", "*/2", f"{hour}", f"{max(hour - 1, 0)},{hour}", "0", "1-3", "0-23/3", "23", "0,23"),
            some("*", "*", "*", "*/2", f"{near.day}", "1-31/2", "30,31"),
            some("*", "*", "*/3", f"{near.month}"),
            some("*", "*", "0", f"{near.isoweekday()}", "*/2", "5-7"),
        ]
    )
    try:
        return parse(text).text
    except CronRefused:
        return some_expression(rng, near)


@pytest.mark.parametrize(("name", "middle"), CHANGES, ids=lambda value: value)
def test_runs_around_a_clock_change_are_those_of_a_look_at_every_minute(name, middle):
    zone, watched = ZoneInfo(name), clock(name, middle)
    rng = random.Random(f"{name} {middle}")
    after, until = instant(middle) - SIDE, instant(middle) + SIDE
    expressions = [some_expression(rng, watched.shows[instant(middle)]) for _ in range(8)]

    found = {text: list(runs_between(parse(text), zone, after, until)) for text in expressions}

    assert found == {text: walked(text, watched, after, until) for text in expressions}
    assert any(found.values())
    assert found == {text: next_runs(parse(text), zone, after, len(runs)) for text, runs in found.items()}


@pytest.mark.soak
@pytest.mark.parametrize(("name", "middle"), CHANGES, ids=lambda value: value)
def test_the_next_run_is_the_same_from_any_instant_since_the_one_before(name, middle):
    """The search starts at wherever the clock stands, also within an hour that comes twice."""
    zone = ZoneInfo(name)
    rng = random.Random(f"from anywhere {name} {middle}")
    for text in ("*/5 * * * *", "30 2 * * *", "0,30 0-4 * * *", "*/15 */2 * * *", "0 */3 * * *"):
        cron = parse(text)
        runs = list(runs_between(cron, zone, instant(middle) - SIDE, instant(middle) + SIDE))
        for _ in range(60):
            since = instant(middle) + timedelta(seconds=rng.uniform(-7200, 7200))
            expected = next((run for run in runs if run > since), None)

            assert expected is None or next_run(cron, zone, since) == expected
