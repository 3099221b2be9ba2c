"""The door for texts, and where a text may be cut."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onechat_memory.domain.text import belongs_together, fit_unicode, head, size


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("a\ud83cb", "a\ufffdb"),
        ("\udf78", "\ufffd"),
        ("\ud83c\udf78", "🍸"),
        ("\udf78\ud83c", "\ufffd\ufffd"),
        ("nul\x00here", "nul\ufffdhere"),
        ("plain\n text\t", "plain\n text\t"),
        ("", ""),
    ],
)
def test_what_no_store_can_hold_is_replaced_at_the_door(sent: str, kept: str):
    """One such message would otherwise fail its compaction for ever and hold every later turn."""
    assert fit_unicode(sent) == kept


@settings(deadline=None, derandomize=True, database=None, max_examples=60)
@given(st.text(st.characters(codec=None)))
def test_whatever_comes_through_the_door_can_be_written(text: str):
    kept = fit_unicode(text)

    assert kept.encode().decode() == kept
    assert "\x00" not in kept


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("e\u0301", 1),
        ("👩\u200d🔬", 1),
        ("👩\u200d🔬", 2),
        ("👍🏽", 1),
        ("❤\ufe0f", 1),
        ("🇮🇹", 1),
        ("🇮🇹🇫🇷", 3),
        ("\r\n", 1),
        ("\u1112\u1161", 1),
    ],
)
def test_what_is_read_as_one_is_not_cut(text: str, place: int):
    assert belongs_together(text, place)


@pytest.mark.parametrize(
    ("text", "place"), [("ab", 1), ("🇮🇹🇫🇷", 2), ("\n\r", 1), ("é", 0), ("é", 1), ("😀😀", 1)]
)
def test_what_is_read_as_two_may_be_cut(text: str, place: int):
    assert not belongs_together(text, place)


def test_a_head_ends_with_a_whole_character():
    assert head("ab€", 4) == "ab"
    assert head("ab€", 5) == "ab€"
    assert head("abe\u0301", 3) == "ab"
    assert head("x" + "🇮🇹", 6) == "x"


@settings(deadline=None, derandomize=True, database=None, max_examples=60)
@given(st.text(), st.integers(min_value=1, max_value=40))
def test_a_head_is_a_start_that_fits(text: str, most: int):
    start = head(text, most)

    assert text.startswith(start)
    assert size(start) <= most
