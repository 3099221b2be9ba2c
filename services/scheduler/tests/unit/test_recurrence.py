"""Runs in a zone: stored right answers, rare dates, the ends of the calendar, and missed runs."""

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import process_time
from zoneinfo import ZoneInfo

import pytest
from onechat_scheduler.domain.cron import Cron, parse
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


def test_a_run_is_after_the_instant_that_is_asked_from_and_of_a_whole_minute():
    cron, at_nine = parse("0 9 * * *"), instant("2026-12-01T08:00Z")

    assert next_run(cron, ROME, at_nine - timedelta(microseconds=1)) == at_nine
    assert next_run(cron, ROME, at_nine) == at_nine + timedelta(days=1)
    assert next_run(cron, ROME, at_nine.astimezone(ZoneInfo("Asia/Tokyo"))) == at_nine + timedelta(days=1)


def test_where_clocks_had_odd_seconds_a_run_is_at_the_first_whole_minute_after_the_gap():
    """Monrovia's clocks went from 00:00:00 to 00:44:30 in 1972."""
    monrovia = ZoneInfo("Africa/Monrovia")

    assert next_run(parse("10 0 * * *"), monrovia, instant("1972-01-06T12:00Z")) == instant(
        "1972-01-07T00:45Z"
    )


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


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("0 9 31 2,4,6,9,11 1", "0 9 * 2,4,6,9,11 1"),
        ("0 */2 30-31 2 0,6", "0 */2 * 2 0,6"),
    ],
)
def test_days_of_the_month_that_never_come_change_nothing_and_cost_nothing(text, same):
    """Either day field is enough; to look for the other through a century, for each run, takes seconds."""
    after, until = instant("2016-11-30T12:00Z"), instant("2026-11-30T12:00Z")
    begun = process_time()

    runs, found = next_runs(parse(text), ROME, after, 100), missed(parse(text), ROME, after, until)

    took = process_time() - begun
    assert runs == next_runs(parse(same), ROME, after, 100)
    assert found == missed(parse(same), ROME, after, until)
    assert took < 1.0


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


@pytest.mark.parametrize("text", ["*/5 * * * *", "*/20 */2 * * *", "0,30 0-3 * * *", "10 1,2,3 * * 0,6"])
def test_runs_of_a_month_are_the_same_in_one_go_as_from_one_to_the_next(text):
    """In one go, days without a clock change near them are taken whole."""
    cron, zone = parse(text), ZoneInfo("Australia/Lord_Howe")
    after, until = instant("2026-09-20T05:02Z"), instant("2026-10-20T05:02Z")
    runs = list(runs_between(cron, zone, after, until))

    assert next_runs(cron, zone, after, len(runs)) == runs
    if len(runs) <= COUNT_MAX:
        assert missed(cron, zone, after, until) == Missed(
            count=len(runs), is_more=False, first=runs[0], latest=runs[-1]
        )


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
    assert process_time() - begun < 0.2


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
    never = replace(NINE, text="0 9 31 2 *")

    assert next_run(never, ROME, instant("2026-12-01T00:00Z")) is None
