"""Long lines at a terminal's width."""

from hypothesis import given
from hypothesis import strategies as st
from onechat_cli.domain.wrapping import wrapped


def columns_of(text: str) -> int:
    """As a terminal counts: wide letters take two."""
    return sum(2 if ord(character) > 0x2E80 else 1 for character in text)


def test_a_line_is_broken_at_its_spaces():
    assert wrapped("one two three", 8, len) == ["one two", "three"]


def test_a_word_wider_than_a_row_is_broken():
    assert wrapped("abcdefgh ij", 3, len) == ["abc", "def", "gh", "ij"]


def test_wide_letters_count_twice():
    assert wrapped("日本語 です", 6, columns_of) == ["日本語", "です"]


@given(st.text(alphabet="ab 日\u3000", max_size=60), st.integers(2, 20))
def test_no_row_is_too_wide_and_no_letter_is_lost(line, columns):
    rows = wrapped(line, columns, columns_of)

    assert all(columns_of(row) <= columns for row in rows)
    assert "".join(rows).replace(" ", "") == line.replace(" ", "")
