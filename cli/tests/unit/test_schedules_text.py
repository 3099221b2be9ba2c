"""How schedules are read from a terminal."""

from datetime import UTC, datetime, timedelta

import pytest
from onechat_cli.domain.schedules import (
    Foreseen,
    Scheduled,
    is_time,
    run_lines,
    schedule_lines,
    schedule_remarks,
    schedule_row,
    told,
)

NOW = datetime(2027, 1, 4, 12, tzinfo=UTC)
ROME = "Europe/Rome"


def scheduled(number=1, **about):
    given = {
        "owner": "root-id",
        "text": "water the plants",
        "at": "2027-01-05 18:00",
        "cron": None,
        "next_time": datetime(2027, 1, 5, 17, tzinfo=UTC),
        "zone": ROME,
        "backed": True,
    }
    return Scheduled(id=number, **{**given, **about})


def test_a_table_has_the_next_time_by_the_clock_of_the_user():
    found = [scheduled(3), scheduled(12, owner="house-id", at=None, cron="0 8 * * 1-5", text="sum up")]

    assert schedule_lines(found, {"root-id": "One"}, None) == [
        "ID  NEXT (Europe/Rome)    WHEN         AGENT     TEXT",
        " 3  Tue 2027-01-05 18:00  once         One       water the plants",
        "12  Tue 2027-01-05 18:00  0 8 * * 1-5  house-id  sum up",
    ]


def test_where_zones_differ_each_time_says_its_own():
    """`at` keeps the zone that it was set in, after the user has moved."""
    lines = schedule_lines([scheduled(1), scheduled(2, zone="America/New_York")], {}, None)

    assert [line.split()[1:6] for line in lines] == [
        ["NEXT", "WHEN", "AGENT", "TEXT"],
        ["Tue", "2027-01-05", "18:00", "Europe/Rome", "once"],
        ["Tue", "2027-01-05", "12:00", "America/New_York", "once"],
    ]


def test_a_zone_that_this_machine_does_not_know_is_shown_as_what_it_is_read_in():
    assert "NEXT (UTC)" in schedule_lines([scheduled(zone="Mars/Olympus")], {}, None)[0]


def test_a_schedule_without_a_next_time_has_a_dash():
    assert schedule_lines([scheduled(next_time=None)], {}, None)[1].split()[1] == "-"


def test_a_text_is_cut_to_the_terminals_width_and_whole_elsewhere():
    found = [scheduled(text="water 水水水 " * 40)]

    cut, whole = schedule_lines(found, {}, 80)[1], schedule_lines(found, {}, None)[1]

    assert cut.endswith("…")
    assert len(cut) + cut.count("水") <= 80
    assert whole.count("water") == 40


def test_on_a_narrow_terminal_a_text_has_a_line_of_its_own():
    found = [scheduled(at=None, cron="0 8 * * 1-5", text="water the plants and " * 9)]

    assert schedule_lines(found, {"root-id": "One"}, 60) == [
        "ID  NEXT (Europe/Rome)    WHEN         AGENT",
        " 1  Tue 2027-01-05 18:00  0 8 * * 1-5  One",
        "    water the plants and water the plants and water the pla…",
    ]


def test_no_line_is_wider_than_the_terminal():
    """One that is would run over into the next, and the table could not be read."""
    cron = ",".join(str(minute) for minute in range(0, 60, 5)) + " 1,3,5,7,9,11,13,15,17 * * *"
    found = [scheduled(text="水" * 99, at=None, cron=cron, owner="家" * 99)]

    for width in (60, 80, 120, 200):
        for line in schedule_lines(found, {}, width):
            assert len(line) + line.count("水") + line.count("家") <= width


def test_the_narrowest_terminal_still_shows_how_a_text_begins():
    assert "water the plants" in schedule_lines([scheduled()], {}, 10)[2]


def test_nothing_in_a_text_ends_its_line_or_acts_on_a_terminal():
    found = [scheduled(text="a\nb\x1b[2J", owner="\x1b[31mred")]

    lines = schedule_lines(found, {}, None)

    assert len(lines) == 2
    assert "\x1b" not in "".join([*lines, told(found[0], {})])


def test_remarks_tell_what_waits_and_what_was_set_without_the_user():
    late, alone = scheduled(1, next_time=NOW - timedelta(hours=1)), scheduled(2, backed=False)

    assert schedule_remarks([scheduled(3)], NOW) == []
    assert schedule_remarks([late, alone, scheduled(4, next_time=NOW)], NOW) == [
        "Due, and waiting for the agent service: 1, 4.",
        "Set without your word, so that what they do may ask you first: 2.",
    ]


def test_a_remark_names_ten_at_most():
    (said,) = schedule_remarks([scheduled(number, backed=False) for number in range(1, 14)], NOW)

    assert said.endswith(": 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 3 more.")


def test_runs_around_a_clock_change_show_their_offset():
    times = (datetime(2027, 3, 27, 7, tzinfo=UTC), datetime(2027, 3, 28, 6, tzinfo=UTC))

    assert run_lines(Foreseen(times=times, remark="", zone=ROME)) == [
        "Sat 2027-03-27 08:00 +01:00 Europe/Rome",
        "Sun 2027-03-28 08:00 +02:00 Europe/Rome",
    ]


def test_a_row_has_every_field_and_its_time_in_utc():
    assert schedule_row(scheduled(3, next_time=None), {}) | {"text": ""} == {
        "id": 3,
        "agent": None,
        "owner_id": "root-id",
        "text": "",
        "at": "2027-01-05 18:00",
        "cron": None,
        "next_time": None,
        "zone": ROME,
        "backed": True,
    }
    assert schedule_row(scheduled(), {"root-id": "One"})["agent"] == "One"
    assert schedule_row(scheduled(), {})["next_time"] == "2027-01-05T17:00:00Z"


@pytest.mark.parametrize("text", ["2027-01-05 18:00", " 18:00", "2027-01-05", "01-05 18:00", "5.1.2027 8:00"])
def test_what_has_a_year_or_a_colon_is_a_time(text):
    assert is_time(text)


@pytest.mark.parametrize("text", ["0 8 * * 1-5", "*/15 9-17 * * *", "@daily", "10-20 1 * * *", "", "soon"])
def test_all_else_is_an_expression(text):
    assert not is_time(text)
