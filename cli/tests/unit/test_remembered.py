"""Names of lines, and a log's messages as rows of JSON."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from onechat_cli.domain.remembered import KeptMessage, LineName, iso_utc, line_name, message_row, view_lines


@pytest.mark.parametrize(
    ("text", "first", "count"),
    [
        ("40+8", 40, 8),
        ("40", 40, 1),
        ("0", 0, 1),
        ("0+0", 0, 0),
        ("9223372036854775807", (1 << 63) - 1, 1),
        ("41+8", 41, 8),  # no tree has it, and the service says what is near
    ],
)
def test_a_line_is_named_as_the_view_shows_it(text, first, count):
    assert line_name(text) == LineName(first=first, count=count)


@pytest.mark.parametrize(
    "text", ["", "x", "-1", "40+", "+8", "40 + 8", "40+8|", "4O+8", "40+0", "9223372036854775808", "٤+٨"]
)
def test_what_no_line_can_be_called_is_refused(text):
    with pytest.raises(ValueError, match="is no name of a line"):
        line_name(text)


def test_the_lines_of_a_view_are_told_from_the_tags_around_them():
    text = "<chat>\n0+8|user: a|b  c\n8+1|<chat>\n9+1|\n</chat>"

    assert [(str(name), line) for name, line in view_lines(text)] == [
        ("0+8", "user: a|b  c"),
        ("8+1", "<chat>"),
        ("9+1", ""),
    ]
    assert view_lines("<chat>\n</chat>") == []


def test_a_row_has_every_field_of_a_message():
    """What an export leaves out is lost to whoever lives by it."""
    message = KeptMessage(
        id=7,
        key="k",
        kind="user",
        text="t",
        time=datetime(2026, 1, 1, 9, 0, 0, 5, UTC),
        zone="Europe/Rome",
        source="user",
        turn="u",
        step=1,
        call="c",
        images=("a.png",),
        part=1,
        parts=2,
    )

    row = message_row(message)

    assert set(row) == set(KeptMessage.__dataclass_fields__)
    assert row["time"] == "2026-01-01T09:00:00.000005Z"
    assert row["images"] == ["a.png"]


def test_a_time_is_written_in_utc_whatever_its_zone():
    elsewhere = datetime(2026, 1, 1, 10, tzinfo=timezone(timedelta(hours=1)))

    assert iso_utc(elsewhere) == "2026-01-01T09:00:00Z"
