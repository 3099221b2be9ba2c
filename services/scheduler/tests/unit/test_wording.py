"""What the owner of a run reads, and what is said of a change of the clocks."""

import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from onechat_scheduler.domain.recurrence import Missed
from onechat_scheduler.domain.schedule import OwnerId, Schedule, ScheduleId
from onechat_scheduler.domain.wording import remark, run_text

ROME = ZoneInfo("Europe/Rome")
DUE = datetime(2027, 1, 15, 11, 37, tzinfo=UTC)


def schedule(text: str = "Water the plants") -> Schedule:
    """Schedule 3, due at DUE."""
    return Schedule(
        id=ScheduleId(3),
        owner=OwnerId("a1"),
        text=text,
        at="2027-01-15 12:37",
        cron=None,
        zone="Europe/Rome",
        backed=True,
        last_time=DUE - timedelta(days=1),
        next_time=DUE,
    )


def missed(count: int, first: datetime, *, is_more: bool = False) -> Missed:
    """`count` runs from `first` to DUE."""
    return Missed(count=count, is_more=is_more, first=first, latest=DUE)


def utc(text: str) -> datetime:
    """The instant written so, in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize("late", [timedelta(0), timedelta(seconds=9.9)])
@pytest.mark.parametrize("came", [None, missed(1, DUE)])
def test_a_run_in_time_is_its_text_under_the_schedules_id(late, came):
    said = run_text(schedule(), DUE, DUE + late, came, ROME)

    assert said == "[Schedule 3] Water the plants"


def test_a_text_of_several_lines_is_left_as_it_is():
    said = run_text(schedule("Look:\n 1. the plants \n"), DUE, DUE, None, ROME)

    assert said == "[Schedule 3] Look:\n 1. the plants \n"


@pytest.mark.parametrize("came", [None, missed(1, DUE)])
@pytest.mark.parametrize(
    ("late", "words"),
    [
        (timedelta(seconds=10), "10 seconds"),
        (timedelta(seconds=61), "1 minute 1 second"),
        (timedelta(minutes=1), "1 minute"),
        (timedelta(hours=2, minutes=5, seconds=59), "2 hours 5 minutes"),
        (timedelta(hours=11), "11 hours"),
        (timedelta(days=2, minutes=30), "2 days"),
        (timedelta(days=800, hours=1), "800 days 1 hour"),
    ],
)
def test_a_late_run_says_how_late_it_is_and_when_it_was_due(late, words, came):
    said = run_text(schedule(), DUE, DUE + late, came, ROME)

    assert said == (
        "[Schedule 3] Water the plants\n"
        f"(This run is {words} late: it was due on 2027-01-15 at 12:37, Europe/Rome.)"
    )


def test_a_run_for_several_says_how_many_there_were_and_since_when():
    first = DUE - timedelta(days=3)

    said = run_text(schedule(), DUE, DUE + timedelta(hours=1), missed(4, first), ROME)

    assert said == (
        "[Schedule 3] Water the plants\n"
        "(This is one run for the 4 that were due since 2027-01-12 at 12:37, Europe/Rome;"
        " the latest is 1 hour late.)"
    )


def test_a_run_for_several_whose_latest_is_in_time_says_so_of_the_others_alone():
    """It stands for runs that came while an earlier one could not be given."""
    said = run_text(schedule(), DUE, DUE, missed(2, DUE - timedelta(minutes=30)), ROME)

    assert said.endswith("(This is one run for the 2 that were due since 2027-01-15 at 12:07, Europe/Rome.)")


def test_more_runs_than_are_counted_are_told_as_more():
    came = missed(1_000, DUE - timedelta(days=365), is_more=True)

    said = run_text(schedule(), DUE, DUE, came, ROME)

    assert "for the more than 1,000 that were due since 2026-01-15 at 12:37" in said


def test_a_late_run_is_told_in_the_time_of_the_zone_that_is_in_force():
    said = run_text(schedule(), DUE, DUE + timedelta(hours=1), None, ZoneInfo("America/New_York"))

    assert "it was due on 2027-01-15 at 06:37, America/New_York" in said


FORWARD = "The clocks go forward 1 hour on Sunday 2027-03-28: 02:00 becomes 03:00."
BACK = "The clocks go back 1 hour on Sunday 2027-10-31: 03:00 becomes 02:00."


@pytest.mark.parametrize(
    ("times", "words"),
    [
        pytest.param(["2027-03-27T07:00", "2027-03-28T06:00", "2027-03-29T06:00"], FORWARD, id="forward"),
        pytest.param(["2027-10-30T06:00", "2027-10-31T07:00", "2027-11-01T07:00"], BACK, id="back"),
        pytest.param(["2027-03-26T07:00", "2027-03-27T07:00", "2027-03-28T06:00"], FORWARD, id="last"),
        pytest.param(["2027-03-28T01:00", "2027-03-29T00:30", "2027-03-30T00:30"], FORWARD, id="moved first"),
        pytest.param(["2027-10-31T00:30"], "", id="the first of two times"),
        pytest.param(["2027-03-25T07:00", "2027-03-26T07:00", "2027-03-27T07:00"], "", id="before"),
        pytest.param(["2027-03-29T06:00", "2027-03-30T06:00", "2027-03-31T06:00"], "", id="after"),
        pytest.param(["2027-08-01T06:00"], "", id="a single time, months after"),
        pytest.param(["2027-03-28T06:00"], FORWARD, id="a single time, hours after"),
        pytest.param([], "", id="no run"),
    ],
)
def test_a_change_of_the_clocks_among_the_runs_or_just_before_them_is_told(times, words):
    now = utc("2027-03-20T12:00")

    assert remark(ROME, [utc(time) for time in times], now) == words


def test_a_change_that_is_past_is_not_told():
    assert remark(ROME, [utc("2027-03-28T06:00")], utc("2027-03-28T05:00")) == ""


def test_changes_after_the_first_are_told_of_in_one_sentence():
    runs = [utc("2027-01-01T07:00"), utc("2028-01-01T07:00"), utc("2029-01-01T07:00")]

    said = remark(ROME, runs, utc("2026-12-01T12:00"))

    assert said == f"{FORWARD} They change again before the last of these runs."


@pytest.mark.parametrize(
    ("zone", "times", "words"),
    [
        pytest.param(
            "Australia/Lord_Howe",
            ["2027-04-03T12:00", "2027-04-04T12:00"],
            "The clocks go back 30 minutes on Sunday 2027-04-04: 02:00 becomes 01:30.",
            id="by half an hour",
        ),
        pytest.param(
            "America/Santiago",
            ["2027-09-04T12:00", "2027-09-05T12:00"],
            "The clocks go forward 1 hour on Sunday 2027-09-05: 00:00 becomes 01:00.",
            id="at midnight",
        ),
        pytest.param("UTC", ["2027-03-27T12:00", "2027-10-31T12:00"], "", id="never"),
    ],
)
def test_a_change_is_told_as_the_zone_makes_it(zone, times, words):
    said = remark(ZoneInfo(zone), [utc(time) for time in times], utc("2027-03-01T00:00"))

    assert said == words


def test_runs_of_three_thousand_years_are_looked_through_at_once():
    """While it looks, nothing else runs: neither a schedule that comes due nor another call."""
    runs = [utc(f"{year}-02-01T00:00") for year in range(2032, 4832, 28)]

    begun = time.process_time()
    said = remark(ZoneInfo("Asia/Tokyo"), runs, utc("2027-03-01T00:00"))
    took_s = time.process_time() - begun

    assert said == ""
    assert took_s < 0.5  # seconds if it looked at each day


def test_a_run_at_the_end_of_the_calendar_is_looked_at_like_any_other():
    last = utc("9998-12-31T22:59")

    assert remark(ROME, [last], utc("2026-11-30T12:00")) == ""
