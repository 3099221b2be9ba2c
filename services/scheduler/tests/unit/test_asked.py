"""Which texts and owners fit."""

import pytest
from onechat_scheduler.domain.asked import is_owner, text_fault


@pytest.mark.parametrize("text", ["x", " Water the plants\n", "植物", "🪴", "🫩", "x" * 10_000, "é" * 10_000])
def test_a_text_with_something_to_see_is_taken(text):
    assert text_fault(text) is None


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u200b\u00a0", "\x00", " " * 10_000])
def test_a_text_with_nothing_to_see_is_refused(text):
    assert text_fault(text) == "The text is empty: say what is to be done at that time."


def test_a_text_that_is_too_long_is_refused_with_how_long_it_is():
    assert text_fault("x" * 30_000) == (
        "The text has 30,000 characters: say what is to be done in at most 10,000."
    )
    assert text_fault("x" * 10_001) is not None


@pytest.mark.parametrize(("owner", "fits"), [("a", True), ("a" * 200, True), ("", False), ("a" * 201, False)])
def test_an_owner_has_one_to_two_hundred_characters(owner, fits):
    assert is_owner(owner) is fits
