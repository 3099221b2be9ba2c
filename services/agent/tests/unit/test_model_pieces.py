"""Text in pieces whose cuts fall anywhere."""

from hypothesis import given
from hypothesis import strategies as st
from onechat_agent.model.pieces import PiecewiseText


def test_a_letter_cut_between_its_halves_arrives_whole():
    text = PiecewiseText()

    taken = [text.take(piece) for piece in ("a\ud83c", "\udf78b", "\ud83c", "c")]

    assert taken == ["a", "🍸b", "", "\ufffdc"]


@given(st.lists(st.text(st.characters(codec=None), max_size=5), max_size=8))
def test_whatever_comes_can_be_passed_on(pieces):
    text = PiecewiseText()

    assert all("\0" not in got and got.encode().decode() == got for got in map(text.take, pieces))
