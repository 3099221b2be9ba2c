"""A text that is too long for one message becomes several, and nothing of it is lost."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onechat_memory.domain.pieces import PIECE_MAX, pieces


class WatchedText(str):
    """A text that counts how often somebody looks into it."""

    looks = 0

    def rfind(self, *search) -> int:
        self.looks += 1
        return super().rfind(*search)

    def __getitem__(self, place) -> str:
        self.looks += 1
        return super().__getitem__(place)


def test_a_text_that_fits_stays_whole():
    assert pieces("a" * PIECE_MAX) == ["a" * PIECE_MAX]
    assert pieces("") == [""]


def test_a_piece_ends_with_a_line_in_its_last_fifth():
    text = "a" * 85 + "\n" + "b" * 5 + " " + "c" * 100

    assert pieces(text, 100) == ["a" * 85 + "\n", "b" * 5 + " " + "c" * 94, "c" * 6]


def test_without_a_line_end_there_a_piece_ends_behind_a_space():
    text = "\n" + "a" * 84 + " " + "b" * 100

    assert pieces(text, 100) == ["\n" + "a" * 84 + " ", "b" * 100]


def test_a_line_end_before_the_last_fifth_does_not_make_a_short_piece():
    text = "a" * 40 + "\n" + "b" * 159

    assert [len(piece) for piece in pieces(text, 100)] == [100, 100]


def test_no_combining_sequence_is_parted():
    text = "a" * 99 + "👩\u200d🔬" + "e\u0301" * 200

    made = pieces(text, 100)

    assert "".join(made) == text
    assert made[0] == "a" * 99
    assert all(piece[0] not in "\u200d\u0301🔬" for piece in made)


def test_a_run_of_marks_without_end_is_still_cut():
    """No writing looks like this, but a message that cannot be cut would be refused for ever."""
    text = "e" + "\u0301" * 1000

    made = pieces(text, 100)

    assert "".join(made) == text
    assert all(0 < len(piece) <= 100 for piece in made)


@pytest.mark.parametrize("unit", [" \u0301", "\n\u0301", " \u200d", "\n\u0301 \u0301", "\u0301\u200d"])
def test_spaces_that_all_carry_marks_are_not_looked_at_one_by_one(unit: str):
    """Pieces are made while the writing thread waits: a hostile message would hold up every other append."""
    text = WatchedText(unit * (PIECE_MAX * 4 // len(unit)) + "a")

    made = pieces(text)

    assert "".join(made) == text
    assert len(made) == 5
    assert text.looks < 1_000 * len(made)


def test_a_space_behind_some_that_carry_marks_is_still_found():
    text = "a" * 85 + " " + "e \u0301" * 4 + "b" * 100

    assert pieces(text, 100)[0] == "a" * 85 + " "


def test_a_long_text_of_the_real_size_is_cut_by_its_lines():
    text = "".join(f"line {number} of a long text\n" for number in range(5_000))

    made = pieces(text)

    assert "".join(made) == text
    assert all(piece.endswith("\n") and len(piece) > PIECE_MAX * 4 // 5 for piece in made[:-1])


@settings(deadline=None, derandomize=True, database=None, max_examples=60)
@given(
    st.text(st.sampled_from("ab \n\r\u0301\u200d🇮🇹👩🏽é"), max_size=200),
    st.integers(min_value=5, max_value=20),
)
def test_pieces_give_the_text_back(text: str, most: int):
    made = pieces(text, most)

    assert "".join(made) == text
    assert all(0 < len(piece) <= most for piece in made) or made == [""]
