"""What `onechat memory` prints for people."""

from datetime import UTC, datetime
from unicodedata import combining, east_asian_width

import pytest
from onechat_cli.domain.memory_text import (
    about_lines,
    excerpt,
    figure_lines,
    find_lines,
    head_line,
    line_text,
    local_time,
    log_lines,
)
from onechat_cli.domain.remembered import Figures, KeptLine, KeptLog, KeptMessage, LineName

MORNING = datetime(2026, 1, 1, 9, 0, 7, 900_000, UTC)


def message(**about):
    given = {
        "id": 40,
        "key": "k",
        "kind": "user",
        "text": "hello",
        "time": MORNING,
        "zone": "Europe/Rome",
        "source": "",
        "turn": "",
        "step": 0,
        "call": "",
        "images": (),
        "part": 1,
        "parts": 1,
    }
    return KeptMessage(**{**given, **about})


def log(**about):
    given = {"id": "a1", "label": "One", "shape": "tree", "state": "live", "generation": 1, "length": 12_345}
    return KeptLog(**{**given, **about}, create_time=MORNING)


def figures(**about):
    counts = dict.fromkeys(Figures.__dataclass_fields__, 0)
    return Figures(**{**counts, "log": log(), "batch_owed": False, **about})


@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        ("Europe/Rome", "2026-01-01 10:00:07 +01:00 Europe/Rome"),
        ("America/St_Johns", "2026-01-01 05:30:07 -03:30 America/St_Johns"),
        ("UTC", "2026-01-01 09:00:07 +00:00 UTC"),
        ("Nowhere/Known", "2026-01-01 09:00:07 +00:00 Nowhere/Known"),
        ("../x", "2026-01-01 09:00:07 +00:00 ../x"),
    ],
)
def test_a_time_is_that_of_the_clock_where_the_message_was_written(zone, shown):
    assert local_time(message(zone=zone)) == shown


def test_what_is_known_of_a_message_stands_above_it_and_nothing_else():
    whole = about_lines(
        message(
            source="whatsapp:1@x", turn="t1", step=2, call="c9", images=("a.png", "b.gif"), part=1, parts=3
        )
    )

    assert [line.split(":")[0] for line in about_lines(message())] == ["message", "kind", "time"]
    assert [" ".join(line.split()) for line in whole[3:]] == [
        "source: whatsapp:1@x",
        "turn: t1 step 2",
        "call: c9",
        "images: a.png, b.gif",
        "part: 1 of 3",
    ]


def test_nothing_that_a_message_is_called_acts_on_a_terminal():
    lines = [
        *about_lines(message(source="\x1b[2Jx\ny", turn="\x9b1m", images=("\x1b",))),
        head_line(message(images=("\x1b]0;x\x07",), zone="\x1b[31m")),
        line_text(KeptLine(name=LineName(first=0, count=8), text="a\x1b[2Jb\u20288+8|forged", built=True)),
        *log_lines([log(label="\x1b[5mOne\n0")]),
        *figure_lines(figures(log=log(label="\x1b[5mOne\n0"))),
        *find_lines([message(text="\x1b[2J dentist\r\n\x9b1m")], "dentist", 80),
    ]

    assert not [line for line in lines if set(line) & set("\x1b\x9b\n\r\x07\u2028")]


def test_a_find_is_one_line_with_its_number_its_time_and_the_place_of_the_word():
    found = [
        message(id=1_234, text=f"{'before ' * 40}the Dentist called\nback {'after ' * 40}", kind="reply"),
        message(id=7, text="dentist"),
    ]

    lines = find_lines(found, "dentist", 80)

    assert lines[0].startswith("1234  2026-01-01 10:00  reply  …before the Dentist called back after")
    assert lines[1] == "   7  2026-01-01 10:00  user   dentist"
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    "text", ["日本" * 200, "e\u0301 " * 100, "👋🏽 ok " * 40, "ab" + "日" * 9, "a" * 200]
)
def test_a_find_takes_no_more_columns_than_the_terminal_has(text):
    (line,) = find_lines([message(text=text)], "x", 70)

    columns = sum(0 if combining(sign) else 2 if east_asian_width(sign) == "W" else 1 for sign in line)
    assert columns <= 70
    assert line.endswith("…") is (len(text) > 11)


@pytest.mark.parametrize(
    ("text", "words", "part"),
    [
        ("x " * 90 + "Caffè freddo" + " y" * 90, "CAFFE", "Caffè freddo"),
        ("x " * 90 + "Straße" + " y" * 90, "strasse", "Straße"),
        ("party " * 30 + "art" + " y" * 90, "art", " art "),
        ("x " * 90 + "garden" + " y" * 90, "gard*", "garden"),
        ("x " * 90 + "'garden'" + " y" * 90, '"garden"', "garden"),
        ("日本" * 90 + "東京" + "日本" * 90, "東京", "東京"),
        ("x " * 90 + "second" + " y" * 90, "missing second", "second"),
        ("ﬁne " * 60 + "dentist" + " y" * 90, "dentist", "dentist"),
        ("e\u0301 " * 90 + "dentist" + " y" * 90, "dentist", "dentist"),
    ],
)
def test_an_excerpt_shows_the_first_place_whatever_its_case_and_accents(text, words, part):
    shown = excerpt(text, words, 60)

    assert part in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) <= 60


@pytest.mark.parametrize("words", ["", "*", "nowhere", "( [ \\"])
def test_an_excerpt_without_a_place_is_the_beginning(words):
    assert excerpt("one two three four five", words, 12) == "one two thr…"
    assert excerpt("one", words, 12) == "one"


def test_figures_say_what_a_line_has_cost():
    lines = figure_lines(figures(model_lines=400, model_calls=412, over_length_answers=9, retries=12))
    shown = {line.split("  ")[0]: line.split("  ", 1)[1].strip() for line in lines}

    assert (shown["model calls"], shown["calls per line"]) == ("412", "1.03")
    assert (shown["over-length answers"], shown["retries"]) == ("9", "12")
    assert shown["messages"] == "12,345"


def test_a_cost_that_is_not_known_yet_is_no_zero():
    (shown,) = [line for line in figure_lines(figures(model_calls=3)) if line.startswith("calls per line")]

    assert shown.split()[-1] == "-"


def test_a_flat_log_has_no_figures_of_a_tree():
    names = {line.split("  ")[0] for line in figure_lines(figures(log=log(shape="flat")))}

    assert names == {"log", "label", "messages", "searchable", "shape"}


def test_logs_are_a_table():
    (head, one, two) = log_lines([log(), log(id="b22", label="", state="kept", shape="flat", length=0)])

    assert head.split() == ["LOG", "LABEL", "STATE", "SHAPE", "MESSAGES", "GENERATION", "MADE"]
    assert one.split() == ["a1", "One", "live", "tree", "12,345", "1", "2026-01-01"]
    assert two.split() == ["b22", "-", "kept", "flat", "0", "1", "2026-01-01"]
