"""When the clocks of a zone change, found without a table of changes."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from onechat_scheduler.domain.clock_changes import ClockChange, change_between, offset_at

ROME = ZoneInfo("Europe/Rome")
FORWARD = datetime(2027, 3, 28, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
CHANGE = ClockChange(at=FORWARD, before=HOUR, after=2 * HOUR)
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [
        (FORWARD - SECOND, FORWARD, CHANGE),
        (FORWARD - timedelta(microseconds=1), FORWARD, CHANGE),
        (FORWARD - timedelta(days=100), FORWARD + timedelta(days=400), CHANGE),
        (FORWARD - timedelta(hours=30), FORWARD + timedelta(microseconds=1), CHANGE),
        (FORWARD, FORWARD + timedelta(days=200), None),
        (FORWARD - timedelta(days=100), FORWARD - timedelta(microseconds=1), None),
        (FORWARD - SECOND, FORWARD - SECOND, None),
        (FORWARD + SECOND, FORWARD - SECOND, None),
    ],
)
def test_the_first_change_after_one_instant_up_to_and_at_another_is_found(start, end, found):
    assert change_between(ROME, start, end) == found


def test_a_change_back_has_the_smaller_offset_after_it():
    change = change_between(ROME, FORWARD, FORWARD + timedelta(days=365))

    assert change == ClockChange(at=datetime(2027, 10, 31, 1, tzinfo=UTC), before=2 * HOUR, after=HOUR)


def test_every_change_of_some_years_is_found_one_after_another():
    start, end, found = datetime(2026, 12, 1, tzinfo=UTC), datetime(2031, 12, 1, tzinfo=UTC), []
    while change := change_between(ROME, start, end):
        found.append(change.at)
        start = change.at

    assert len(found) == 10
    assert all(at.hour == 1 and at.isoweekday() == 7 and at.month in (3, 10) for at in found)


def test_a_change_by_half_an_hour_is_one():
    lord_howe = ZoneInfo("Australia/Lord_Howe")

    change = change_between(lord_howe, FORWARD, FORWARD + timedelta(days=30))

    assert change is not None
    assert change.before - change.after == timedelta(minutes=30)
    assert offset_at(lord_howe, change.at - SECOND) == change.before


def test_a_zone_without_changes_has_none_in_decades():
    for name in ("UTC", "Asia/Tokyo"):
        assert change_between(ZoneInfo(name), FORWARD, FORWARD + timedelta(days=365 * 40)) is None


def test_only_the_offset_counts():
    """In Portugal standard time became summer time of another zone in 1992, at the same offset."""
    lisbon = ZoneInfo("Europe/Lisbon")
    names = {datetime(1992, 9, 27, hour, tzinfo=UTC).astimezone(lisbon).tzname() for hour in (0, 2)}

    assert len(names) == 2
    assert (
        change_between(lisbon, datetime(1992, 9, 27, tzinfo=UTC), datetime(1992, 9, 28, tzinfo=UTC)) is None
    )


def test_instants_may_be_given_in_any_zone():
    tokyo = ZoneInfo("Asia/Tokyo")

    change = change_between(ROME, (FORWARD - HOUR).astimezone(tokyo), (FORWARD + HOUR).astimezone(tokyo))

    assert change == CHANGE
    assert change.at.tzinfo is UTC
