"""Which expressions are read, as what, and what a refusal tells people and models to write instead."""

import json
import re
from datetime import date
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from onechat_scheduler.domain.cron import CronRefused, parse

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "cron.json").read_text())
REFUSED = [(why, text) for why, texts in VECTORS["refused"].items() for text in texts]


def refusal(text: str) -> str:
    """What is said about an expression that is not taken."""
    with pytest.raises(CronRefused) as refused:
        parse(text)
    return str(refused.value)


def is_one_sentence(said: str) -> bool:
    """One line, one full stop at its end, and a part that says what to write."""
    outside_quotes = re.sub(r"`[^`]*`", "", said)
    one = outside_quotes.count(".") == 1 and outside_quotes.endswith(".") and len(said.splitlines()) == 1
    return one and re.search(r"\bwrite\b", outside_quotes) is not None


@pytest.mark.parametrize(("why", "text"), REFUSED)
def test_what_the_vectors_refuse_is_refused_in_a_sentence_that_says_what_to_write(why, text):
    said = refusal(text)

    assert is_one_sentence(said)
    assert ("apart" in said) == (why == "closer than 5 minutes")
    assert ("never comes" in said) == (why == "never")


@pytest.mark.parametrize("case", VECTORS["runs"] + VECTORS["long"], ids=lambda case: case["cron"])
def test_what_the_vectors_run_is_read(case):
    assert parse(case["cron"]).text == case["cron"]


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("@daily", "`0 0 * * *`"),
        ("@Hourly", "`0 * * * *`"),
        ("0 9 * jan *", "`1`"),
        ("0 9 * january,jul *", "`1,7`"),
        ("0 9 * * mon", "`1`"),
        ("0 9 * * mon,WED,friday", "`1,3,5`"),
        ("0 9 * * mon-fri", "`1-5`"),
        ("0 9 * * sat-mon", "`6,0-1`"),
        ("0 9 * * 6-0", "`6,0`"),
        ("0 9 * * 5-1/2", "`5,0`"),
        ("0 22-6 * * *", "`22-23,0-6`"),
        ("0 9 * 11-2 *", "`11-12,1-2`"),
        ("5/15 * * * *", "`5-59/15`"),
        ("0 9 * * 1/2", "`1-6/2`"),
        ("0 9 ? * *", "`*`"),
        ("0 9 L * *", "`28-31`"),
        ("0 9 * * 5L", "`5`"),
        ("0 9 * * L", "`6`"),
        ("0 9 * * 1#2", "`1`"),
        ("0 9 * * mon#2", "`1`"),
        ("0 9 15W * *", "`15`"),
        ("1,,20 * * * *", "`1,20`"),
        ("0 24 * * *", "from 0 to 23"),
        ("60 * * * *", "from 0 to 59"),
        ("0 9 0 * *", "from 1 to 31"),
        ("0 9 * 13 *", "from 1 to 12"),
        ("0 9 * * 8", "from 0 to 7"),
        ("H 9 * * *", "from 0 to 59"),
        ("-1 * * * *", "from 0 to 59"),
        ("0 9 ٣ * *", "from 1 to 31"),
        ("0 9 1-5-7 * *", "from 1 to 31"),
        ("0 9 * * m", "from 0 to 7"),
        ("0 9 * ju *", "from 1 to 12"),
        (",".join(["0"] * 300) + " 9 * * *", "ranges such as `1-5`"),
        ("*/0 * * * *", "`*/5`"),
        ("0 0 9 * * *", "`0 9 * * *`"),
        ("0 9 * * * 2027", "`0 9 * * *`"),
        ("0 9 * *", "five fields"),
        ("", "five fields"),
        (" ", "five fields"),
        ("@reboot", "five fields"),
        ("0 9 31 4,6 *", "up to 30"),
        ("0 9 30 2 *", "up to 29"),
        ("*/7 * * * *", "`*/5`"),
    ],
)
def test_a_refusal_says_what_to_write_instead(text, instead):
    said = refusal(text)

    _, write, after = said.rpartition("write")

    assert write
    assert instead in after


def test_every_minute_with_seconds_is_not_told_to_write_every_minute():
    """What a refusal proposes must be taken itself."""
    assert "`* * * * *`" not in refusal("* * * * * *")


@pytest.mark.parametrize(
    ("text", "like"),
    [
        ("  0   9 *\t* 1-5 ", "0 9 * * 1-5"),
        ("00 09 01 01 01", "0 9 1 1 1"),
        ("0 9 * * 7", "0 9 * * 0"),
        ("0 9 * * 5-7", "0 9 * * 0,5,6"),
        ("0 9 * * 1-7/2", "0 9 * * 0,1,3,5"),
        ("0,0,30 9 * * *", "0,30 9 * * *"),
        ("10-40/10 4 * * *", "10,20,30,40 4 * * *"),
        ("0 9 1-31/10 * *", "0 9 1,11,21,31 * *"),
        ("0 9-9 * * *", "0 9 * * *"),
        ("0 9 * */6 *", "0 9 * 1,7 *"),
        ("0 */90 * * *", "0 */24 * * *"),
    ],
)
def test_what_is_written_otherwise_and_means_the_same_runs_at_the_same_times(text, like):
    one, other = parse(text), parse(like)

    assert one.times == other.times
    assert one.days.months == other.days.months
    days = [date.fromordinal(date(2027, 1, 1).toordinal() + day) for day in range(1500)]
    assert [one.matches_day(day) for day in days] == [other.matches_day(day) for day in days]


def test_the_text_is_kept_as_it_was_written_but_for_its_spaces():
    assert parse("  00   9 *\t* 1-5/2").text == "00 9 * * 1-5/2"


@pytest.mark.parametrize(
    ("text", "both"),
    [
        ("0 9 1 * 1", False),
        ("0 9 */2 * 1", True),
        ("0 9 1-7 * */2", True),
        ("0 9 * * 1", True),
        ("0 9 *,1 * 1", True),
        ("0 9 1,* * 1", False),
        ("0 9 1-31 * 1", False),
    ],
)
def test_both_day_fields_must_match_if_one_of_them_begins_with_a_star(text, both):
    assert parse(text).days.both is both


@pytest.mark.parametrize(
    ("text", "follows"),
    [("*/30 2 * * *", True), ("30 * * * *", True), ("30 2 * * *", False), ("0-59/30 0-23 * * *", False)],
)
def test_it_follows_the_clock_if_minute_or_hour_begins_with_a_star(text, follows):
    assert parse(text).follows_clock is follows


def test_a_text_of_thirty_thousand_characters_is_refused_in_a_short_sentence():
    for text in ("1," * 15_000, "x" * 30_000, "0 " * 15_000, "٣" * 30_000):
        said = refusal(text)

        assert len(said) < 300
        assert "write" in said


def test_the_longest_sensible_expression_is_taken():
    lists = [",".join(map(str, numbers)) for numbers in (range(24), range(1, 32), range(1, 13), range(8))]

    assert len(parse(" ".join(["0,5,10,15,20,25,30,35,40,45,50,55", *lists])).times) == 288


ALPHABET = "0123456789*/,-?#LWHRmonjan@ \t\u0663\u2009"


@settings(deadline=None)
@given(st.one_of(st.text(), st.text(alphabet=ALPHABET, max_size=30)))
@example("0 9 * * mon-mon-mon")
@example("0 9 LW * *")
@example("0 9 * * #")
@example("0 9 * * 1#9")
@example("² 9 * * *")
@example("0 9 * * , ")
@example("`")
@example("`. 9 * * *")
def test_whatever_is_written_is_read_or_refused_in_one_line(text):
    cron, said = None, ""
    try:
        cron = parse(text)
    except CronRefused as refused:
        said = str(refused)

    if cron:
        assert re.fullmatch(r"([0-9*/,-]+ ){4}[0-9*/,-]+", cron.text)
        assert parse(cron.text) == cron
    else:
        assert is_one_sentence(said)
        assert len(said) < 400
