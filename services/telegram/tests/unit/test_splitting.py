"""Long texts are cut where a reader would, and nothing of them is lost."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onechat_telegram.domain.splitting import split
from onechat_telegram.domain.utf16 import between_letters, blank, fitting, units

PIECES_OF_MARKDOWN = st.lists(
    st.sampled_from(
        [
            "word ",
            "😀",
            "é",
            "e\u0301",
            "\n",
            "\n\n",
            "  indent ",
            "```py\n",
            "```\n",
            "~~~\n",
            "> q\n",
            "- item\n",
            "| a | b |\n",
            "|---|---|\n",
            "# head\n",
            "x" * 70,
            "1. one\n",
            "👩\u200d👩\u200d👧",
            "`code`",
            "**bold** ",
        ]
    ),
    max_size=60,
).map("".join)


@given(text=PIECES_OF_MARKDOWN | st.text(max_size=300), limit=st.integers(64, 200))
@settings(max_examples=120, deadline=None)
def test_every_part_fits_and_the_letters_come_out_in_order(text: str, limit: int) -> None:
    """What opens a block again is added, so letters may be more; none may be missing."""
    parts = list(split(text, limit))

    assert all(units(part) <= limit for part in parts)
    assert _is_subsequence(_letters(text), _letters("".join(parts)))


@given(
    text=st.text(alphabet=st.characters(exclude_characters="`~|", exclude_categories=["Cs"]), max_size=300)
)
@settings(max_examples=120, deadline=None)
def test_a_text_without_blocks_loses_only_blanks(text: str) -> None:
    parts = list(split(text, 64))

    assert _letters("".join(parts)) == _letters(text)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("😀" * 2049, [4096, 2]),
        ("😀" * 5000, [4096, 4096, 1808]),
        ("a" * 4095 + "🎩", [4095, 2]),
        ("!" * 4096, [4096]),
    ],
)
def test_letters_of_two_units_are_counted_as_two_and_never_cut(text: str, sizes: list[int]) -> None:
    parts = list(split(text, 4096))

    assert [units(part) for part in parts] == sizes
    assert "".join(parts) == text


def test_a_paragraph_is_kept_whole_where_it_can_be() -> None:
    first, second = "one " * 700, "two " * 700

    parts = list(split(f"{first}\n\n{second}", 4096))

    assert [part.strip() for part in parts] == [first.strip(), second.strip()]


def test_a_line_is_kept_whole_where_its_paragraph_can_not_be() -> None:
    lines = [f"line {number} " + "x" * 50 for number in range(100)]

    parts = list(split("\n".join(lines), 1000))

    assert [line for part in parts for line in part.split("\n")] == lines


def test_a_long_fence_is_closed_and_opened_again_with_its_language() -> None:
    code = "\n".join(f"x = {number}" for number in range(1000))

    parts = list(split(f"Look:\n```python\n{code}\n```\nDone.", 4096))

    fences = [part for part in parts if part.startswith("```python\n")]
    assert len(fences) >= 2
    assert all(part.rstrip().count("```") == 2 for part in fences)
    assert "\n".join(part.split("```")[1].removeprefix("python\n").strip() for part in fences) == code


def test_one_line_of_ten_thousand_in_a_fence_ends() -> None:
    parts = list(split("```\n" + "y" * 10_000 + "\n```", 4096))

    assert [part.startswith("```\n") and part.endswith("\n```") for part in parts] == [True, True, True]
    assert sum(part.count("y") for part in parts) == 10_000


def test_a_cut_before_the_closing_fence_leaves_no_empty_fence() -> None:
    line = "z" * 40

    parts = list(split(f"```\n{line}\n{line}\n```\nafter", 90))

    assert not any(blank(part.replace("`", "")) for part in parts)
    assert "".join(parts).count("z") == 80


def test_a_long_table_begins_again_with_its_header() -> None:
    rows = "".join(f"| {number} | {'v' * 20} |\n" for number in range(100))

    parts = list(split(f"| n | value |\n|---|---|\n{rows}", 500))

    assert all(part.startswith("| n | value |\n|---|---|\n| ") for part in parts)
    assert [int(n) for n in re.findall(r"^\| (\d+) \|", "\n".join(parts), re.MULTILINE)] == list(range(100))


def test_a_word_that_would_begin_a_list_does_not_begin_a_part() -> None:
    """`- ` at a line's beginning is a list; in the middle of a sentence it is a dash."""
    parts = list(split("one two - three - four - five - six " * 5, 70))

    assert not any(part.startswith("- ") for part in parts)


def test_a_fence_in_a_quote_ends_with_the_quote() -> None:
    text = "> ```py\n> a = 1\n\n" + "after the quote. " * 10

    parts = list(split(text, 80))

    assert "```" not in "".join(parts[1:])


def test_a_joined_emoji_is_not_cut_in_two() -> None:
    family = "👩\u200d👩\u200d👧"

    assert between_letters("a" + family, 3) == 1
    assert between_letters("e\u0301x", 1) == 0 or between_letters("ae\u0301x", 2) == 1


def test_what_fits_is_found_by_units() -> None:
    assert fitting("a😀b", 2) == 1
    assert fitting("a😀b", 3) == 2
    assert fitting("ab", 100) == 2


def _letters(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _is_subsequence(wanted: str, given_text: str) -> bool:
    rest = iter(given_text)
    return all(letter in rest for letter in wanted)
