"""Runs in a zone: stored right answers, a look at every minute around odd clock changes, and missed runs."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import pairwise
from pathlib import Path
from time import process_time
from zoneinfo import ZoneInfo

import pytest
from onechat_scheduler.domain.cron import Cron, CronRefused, parse
from onechat_scheduler.domain.recurrence import COUNT_MAX, Missed, missed, next_run, next_runs

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "cron.json").read_text())
ROME = ZoneInfo("Europe/Rome")
MINUTE = timedelta(minutes=1)


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def runs_between(cron: Cron, zone: ZoneInfo, after: datetime, until: datetime) -> Iterator[datetime]:
    """The runs in (after, until], each found from the one before."""
    while (run := next_run(cron, zone, after)) and run <= until:
        yield run
        after = run


@pytest.mark.parametrize("case", VECTORS["runs"], ids=lambda case: f"{case['cron']} {case['zone']}")
def test_runs_are_those_of_the_vectors(case):
    cron, zone = parse(case["cron"]), ZoneInfo(case["zone"])

    runs = list(runs_between(cron, zone, instant(case["after"]), instant(case["until"])))

    assert runs == [instant(run) for run in case["runs"]]


@pytest.mark.parametrize("case", VECTORS["long"], ids=lambda case: case["cron"])
def test_runs_over_years_are_those_of_the_vectors(case):
    cron, zone = parse(case["cron"]), ZoneInfo(case["zone"])
    first, last = ([instant(run) for run in case[end]] for end in ("first", "last"))

    runs = list(runs_between(cron, zone, instant(case["after"]), instant(case["until"])))

    assert len(runs) == case["count"]
    assert (runs[: len(first)], runs[-len(last) :]) == (first, last)


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
    expressions = [some_expression(rng, watched.shows[instant(middle)]) for _ in range(15)]

    found = {text: list(runs_between(parse(text), zone, after, until)) for text in expressions}

    assert found == {text: walked(text, watched, after, until) for text in expressions}
    assert any(found.values())


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


def test_a_run_is_after_the_instant_that_is_asked_from_and_of_a_whole_minute():
    cron, at_nine = parse("0 9 * * *"), instant("2026-12-01T08:00Z")

    assert next_run(cron, ROME, at_nine - timedelta(microseconds=1)) == at_nine
    assert next_run(cron, ROME, at_nine) == at_nine + timedelta(days=1)
    assert next_run(cron, ROME, at_nine.astimezone(ZoneInfo("Asia/Tokyo"))) == at_nine + timedelta(days=1)


def test_the_next_three_runs_come_in_order():
    runs = next_runs(parse("30 2 * * *"), ROME, instant("2027-03-26T12:00Z"), 3)

    assert runs == [instant(f"2027-03-{time}Z") for time in ("27T01:30", "28T01:00", "29T00:30")]


def test_runs_end_where_the_calendar_ends():
    cron = parse("0 12 31 12 *")

    assert next_run(cron, ROME, instant("9998-01-01T00:00Z")) == instant("9998-12-31T11:00Z")
    assert next_run(cron, ROME, instant("9998-12-31T12:00Z")) is None
    assert next_runs(parse("0 9 29 2 *"), ROME, instant("9990-01-01T00:00Z"), 3) == [
        instant("9992-02-29T08:00Z"),
        instant("9996-02-29T08:00Z"),
    ]


@pytest.mark.parametrize("name", ["Pacific/Kiritimati", "Pacific/Pago_Pago", "UTC"])
def test_the_calendar_can_be_asked_to_its_last_hours_in_any_zone(name):
    for text in ("*/5 * * * *", "0 9 * * *"):
        last = datetime(9999, 12, 30, tzinfo=UTC)

        runs = list(runs_between(parse(text), ZoneInfo(name), last, datetime.max.replace(tzinfo=UTC)))

        assert runs == sorted(set(runs))


@pytest.mark.parametrize(
    ("text", "after", "run"),
    [
        ("0 9 29 2 */7", "2026-11-30T00:00Z", "2032-02-29T08:00Z"),
        ("0 9 29 2 */7", "2088-03-01T00:00Z", "2128-02-29T08:00Z"),  # 2100 has no 29 February
        ("0 9 29 2 *", "2096-03-01T00:00Z", "2104-02-29T08:00Z"),
        ("59 23 31 12 */7", "2026-11-30T00:00Z", "2028-12-31T22:59Z"),
    ],
)
def test_a_rare_date_is_found_however_far_it_is_and_at_once(text, after, run):
    """Milliseconds would do; a walk by days or minutes takes far longer than is allowed here."""
    cron = parse(text)
    found, took = None, 1.0
    for _ in range(5):
        begun = process_time()
        found = next_run(cron, ROME, instant(after))
        took = min(took, process_time() - begun)

    assert found == instant(run)
    assert took < 0.005


EVERY_FIVE = parse("*/5 * * * *")
NINE = parse("0 9 * * *")


def test_nothing_is_missed_between_two_runs():
    assert missed(NINE, ROME, instant("2026-12-01T08:00Z"), instant("2026-12-02T07:59:59Z")) is None


def test_missed_runs_are_counted_from_after_one_instant_up_to_and_at_the_other():
    after, until = instant("2026-12-01T08:00Z"), instant("2026-12-04T08:00Z")

    assert missed(NINE, ROME, after, until) == Missed(
        count=3, is_more=False, first=instant("2026-12-02T08:00Z"), latest=until
    )


def test_a_clock_that_stands_before_the_last_run_has_missed_nothing():
    assert missed(NINE, ROME, instant("2026-12-04T08:00Z"), instant("2026-12-01T08:00Z")) is None


@pytest.mark.parametrize("more", [0, 1])
def test_counting_ends_at_a_thousand_and_says_when_there_were_more(more):
    after = instant("2026-12-01T00:00Z")
    until = after + (COUNT_MAX + more) * 5 * MINUTE

    found = missed(EVERY_FIVE, ROME, after, until)

    assert found == Missed(count=COUNT_MAX, is_more=bool(more), first=after + 5 * MINUTE, latest=until)


def test_years_of_runs_every_five_minutes_are_missed_in_a_moment():
    after, until = instant("1990-01-01T00:00Z"), instant("2026-12-01T12:03:30Z")
    begun = process_time()

    found = missed(EVERY_FIVE, ROME, after, until)

    assert found == Missed(
        count=COUNT_MAX, is_more=True, first=after + 5 * MINUTE, latest=instant("2026-12-01T12:00Z")
    )
    assert process_time() - begun < 1


@pytest.mark.parametrize(
    "text", ["*/5 9 1 1 *", "*/10 * * 2 1", "0,30 * 29 2 *", "*/5 2 * * *", "0 */2 * * *", "20 0-23 * * 0,6"]
)
def test_the_latest_of_more_than_a_thousand_is_the_last_of_them_all(text):
    cron, rng = parse(text), random.Random(text)
    until = instant("2026-10-25T01:30Z") + timedelta(days=rng.randrange(4000))

    found = missed(cron, ROME, instant("1920-01-31T00:00Z"), until)

    assert found is not None
    assert found.is_more
    assert next_run(cron, ROME, found.latest - MINUTE) == found.latest <= until
    following = next_run(cron, ROME, found.latest)
    assert following is not None
    assert following > until


def test_the_zone_alone_decides_when_a_day_begins():
    """The same expression on the same evening: already tomorrow in one zone, still today in another."""
    midnight = parse("0 0 * * *")
    after = instant("2026-12-01T11:00Z")

    assert next_run(midnight, ZoneInfo("Pacific/Kiritimati"), after) == instant("2026-12-02T10:00Z")
    assert next_run(midnight, ZoneInfo("Pacific/Pago_Pago"), after) == instant("2026-12-02T11:00Z")


def test_a_cron_that_could_not_be_written_ends_as_well():
    """Nothing loops for ever, even on days that never come; reading refuses them before."""
    never = replace(NINE, days=replace(NINE.days, days=(31,), months=(2,)))

    assert next_run(never, ROME, instant("2026-12-01T00:00Z")) is None
    assert not never.matches_day(date(2028, 2, 29))
