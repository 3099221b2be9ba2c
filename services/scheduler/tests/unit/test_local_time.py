"""Local times that are, are not, and are twice; and what a refusal of `at` says to write."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onechat_scheduler.domain.local_time import TimeRefused, after_gap, instant_of, local, readings

ROME = ZoneInfo("Europe/Rome")
NOW = datetime(2026, 11, 30, 11, 30, 20, tzinfo=UTC)  # 12:30 in Rome


def refusal(text: str, zone: ZoneInfo = ROME, now: datetime = NOW) -> str:
    """What is said about a time that is not taken."""
    with pytest.raises(TimeRefused) as refused:
        instant_of(text, zone, now)
    return str(refused.value)


def is_one_sentence(said: str) -> bool:
    outside_quotes = re.sub(r"`[^`]*`", "", said)
    one = outside_quotes.count(".") == 1 and outside_quotes.endswith(".") and len(said.splitlines()) == 1
    return one and re.search(r"\bwrite\b", outside_quotes) is not None


@pytest.mark.parametrize(
    ("text", "zone", "instant"),
    [
        ("2026-11-30 12:31", "Europe/Rome", "2026-11-30T11:31Z"),
        ("2027-07-01 18:00", "Europe/Rome", "2027-07-01T16:00Z"),
        ("2027-03-28 01:59", "Europe/Rome", "2027-03-28T00:59Z"),
        ("2027-03-28 03:00", "Europe/Rome", "2027-03-28T01:00Z"),
        ("2028-02-29 00:00", "UTC", "2028-02-29T00:00Z"),
        ("9998-12-31 23:59", "Pacific/Pago_Pago", "9999-01-01T10:59Z"),
    ],
)
def test_a_local_time_is_the_instant_at_which_clocks_of_the_zone_show_it(text, zone, instant):
    found = instant_of(text, ZoneInfo(zone), NOW)

    assert found == datetime.fromisoformat(instant)
    assert found.tzinfo is UTC
    assert local(found, ZoneInfo(zone)) == text


@pytest.mark.parametrize(
    ("text", "zone", "instant"),
    [
        ("2027-10-31 02:30", "Europe/Rome", "2027-10-31T00:30Z"),
        ("2027-11-07 01:00", "America/New_York", "2027-11-07T05:00Z"),
        ("2027-04-04 01:45", "Australia/Lord_Howe", "2027-04-03T14:45Z"),
    ],
)
def test_a_time_that_comes_twice_is_its_first(text, zone, instant):
    assert instant_of(text, ZoneInfo(zone), NOW) == datetime.fromisoformat(instant)


def test_a_time_that_comes_twice_is_past_once_its_first_is():
    between = datetime(2027, 10, 31, 0, 45, tzinfo=UTC)

    assert "is past" in refusal("2027-10-31 02:30", now=between)


@pytest.mark.parametrize(
    ("text", "zone", "around"),
    [
        ("2027-03-28 02:00", "Europe/Rome", ("2027-03-28 01:59", "2027-03-28 03:00")),
        ("2027-03-28 02:59", "Europe/Rome", ("2027-03-28 01:59", "2027-03-28 03:00")),
        ("2027-10-03 02:15", "Australia/Lord_Howe", ("2027-10-03 01:59", "2027-10-03 02:30")),
        ("2027-03-14 00:30", "America/Havana", ("2027-03-13 23:59", "2027-03-14 01:00")),
        ("2027-03-28 01:00", "Antarctica/Troll", ("2027-03-28 00:59", "2027-03-28 03:00")),
    ],
)
def test_a_time_that_a_clock_change_skips_is_refused_with_the_two_times_around_it(text, zone, around):
    said = refusal(text, ZoneInfo(zone))

    assert is_one_sentence(said)
    assert said.startswith(f"There is no {text} in {zone}")
    assert f"write {around[0]} or {around[1]}" in said
    earlier, later = (instant_of(time, ZoneInfo(zone), NOW) for time in around)
    assert later - earlier == timedelta(minutes=1)


def test_now_itself_is_not_after_now():
    on_the_minute = NOW.replace(second=0)

    assert "is past" in refusal("2026-11-30 12:30", now=on_the_minute)
    assert "write 2026-12-01 12:30" in refusal("12:30", now=on_the_minute)
    assert "write 2027-11-30 12:30" in refusal("11-30 12:30", now=on_the_minute)


def test_a_time_that_was_skipped_long_ago_is_past():
    assert "is past" in refusal("2025-03-30 02:30")


@pytest.mark.parametrize(
    "text", ["2026-11-30 12:30", "2026-11-30 12:25", "2025-11-30 12:31", "0002-01-01 00:00"]
)
def test_a_time_that_is_not_after_now_is_refused_as_it_was_understood(text):
    said = refusal(text)

    assert is_one_sentence(said)
    assert said.startswith(f"{text} in Europe/Rome is past, since it is 2026-11-30 12:30 there now")


@pytest.mark.parametrize(
    ("text", "says", "instead"),
    [
        ("01-05 18:00", "no year", "2027-01-05 18:00"),
        ("11-30 12:30", "no year", "2027-11-30 12:30"),
        ("11-30 12:31", "no year", "2026-11-30 12:31"),
        ("1-5 9:00", "no year", "2027-01-05 09:00"),
        ("02-29 10:00", "no year", "2028-02-29 10:00"),
        ("18:00", "no date", "2026-11-30 18:00"),
        ("9:00", "no date", "2026-12-01 09:00"),
        ("12:30", "no date", "2026-12-01 12:30"),
        ("2027-01-05", "no time of day", "2027-01-05 HH:MM"),
        ("2027-01-05T18:00", "YYYY-MM-DD HH:MM", "2027-01-05 18:00"),
        ("2027-01-05 18:00:00", "YYYY-MM-DD HH:MM", "2027-01-05 18:00"),
        ("2027-01-05T18:00Z", "Europe/Rome", "2027-01-05 19:00"),
        ("2027-07-05T18:00+09:00", "Europe/Rome", "2027-07-05 11:00"),
        ("2027-1-5 18:00", "YYYY-MM-DD HH:MM", "2027-01-05 18:00"),
        ("2027/01/05 6:00", "YYYY-MM-DD HH:MM", "2027-01-05 06:00"),
        (" 2027-01-05 18:00\n", "YYYY-MM-DD HH:MM", "2027-01-05 18:00"),
        ("2027-01-05 24:00", "no 24:00", "2027-01-06 00:00"),
        ("2027-12-31 24:00", "no 24:00", "2028-01-01 00:00"),
        ("2027-01-05 25:00", "no 25:00", "23:59"),
        ("2027-01-05 09:60", "no 09:60", "23:59"),
        ("2027-02-29 10:00", "no 2027-02-29", "2027-02-28"),
        ("2027-06-31 10:00", "no 2027-06-31", "2027-06-30"),
        ("2027-00-10 10:00", "no month 00", "01 to 12"),
        ("2027-13-10 10:00", "no month 13", "01 to 12"),
        ("0000-01-01 00:00", "no year 0000", "2026"),
        ("0001-01-01 00:00", "no year 0001", "2026"),
        ("9999-12-31 23:59", "no year 9999", "9998"),
        ("", "empty", "2026-12-01 09:00"),
        ("tomorrow at nine", "not a time", "2026-12-01 09:00"),
        ("05.01.2027 18:00", "not a time", "2026-12-01 09:00"),
        ("02-30 10:00", "not a time", "2026-12-01 09:00"),
        ("٢٠٢٧-01-05 18:00", "not a time", "2026-12-01 09:00"),
        ("9999-12-31T23:59-12:00", "not a time", "2026-12-01 09:00"),
    ],
)
def test_a_refusal_says_what_is_wrong_and_what_to_write(text, says, instead):
    said = refusal(text)

    before, _, after = said.rpartition("write")

    assert is_one_sentence(said)
    assert says in said
    assert before
    assert instead in after


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("2026-11-30T12:25", "2026-11-30 12:25 in Europe/Rome is past"),
        ("2026-1-5 9:00", "2026-01-05 09:00 in Europe/Rome is past"),
        ("2026-11-30T20:30+09:00", "2026-11-30 12:30 in Europe/Rome is past"),
        ("2027-03-28T02:30", "There is no 2027-03-28 02:30 in Europe/Rome"),
        ("03-28 02:30", "There is no 2027-03-28 02:30 in Europe/Rome"),
        ("9999-12-31T18:00", "There is no year 9999"),
    ],
)
def test_what_cannot_be_is_never_what_to_write(text, says):
    """Else who writes it in the right form is refused a second time."""
    said = refusal(text)

    assert is_one_sentence(said)
    assert said.startswith(says)


def test_a_text_of_thirty_thousand_characters_is_refused_in_a_short_sentence():
    for text in ("2027-01-05 18:00" * 2_000, "1" * 30_000, "\n" * 30_000):
        assert len(refusal(text)) < 250


@settings(deadline=None)
@given(st.one_of(st.text(), st.text(alphabet="0123456789-: TZ+./W\n", max_size=25)))
def test_whatever_is_written_is_taken_as_it_stands_or_refused_in_one_sentence(text):
    said, instant = "", None
    try:
        instant = instant_of(text, ROME, NOW)
    except TimeRefused as refused:
        said = str(refused)

    if instant:
        assert instant > NOW
        assert local(instant, ROME) == text
    else:
        assert is_one_sentence(said)


@settings(deadline=None)
@given(
    st.sampled_from(["Europe/Rome", "Australia/Lord_Howe", "America/Havana", "Pacific/Apia", "Asia/Tokyo"]),
    st.integers(0, 4_000_000_000).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
)
def test_an_instant_is_among_the_readings_of_what_clocks_show_at_it(name, instant):
    zone = ZoneInfo(name)
    wall = instant.astimezone(zone)

    found = readings(wall.replace(tzinfo=None, fold=0), zone)

    assert found[wall.fold] == instant
    assert list(found) == sorted(set(found))


def test_after_a_gap_is_the_first_instant_with_the_new_time():
    skipped = datetime.fromisoformat("2027-03-28 02:30")

    assert readings(skipped, ROME) == ()
    assert after_gap(skipped, ROME) == datetime(2027, 3, 28, 1, tzinfo=UTC)


def test_after_a_day_that_was_left_out_is_the_next_midnight():
    """Samoa went over the date line; there was no 30 December 2011."""
    assert after_gap(datetime.fromisoformat("2011-12-30 12:00"), ZoneInfo("Pacific/Apia")) == datetime(
        2011, 12, 30, 10, tzinfo=UTC
    )
