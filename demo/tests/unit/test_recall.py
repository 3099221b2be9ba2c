"""Which lines a question looks up."""

from onechat_demo.asks import Recall
from onechat_demo.prompt import Line
from onechat_demo.recall import first_zooms

ANNA = Recall(words=("anna",))
SAID = Line(first=0, count=1, text="user: Anna's birthday is on March 3rd")
ASKED = Line(first=1, count=1, text="user: what did I say about Anna?")
QUOTED = Line(first=2, count=1, text="reply: I looked it up at message 0: Anna's birthday is on March 3rd")
MERGED = Line(first=8, count=4, text="user: I wrote to Anna reply: noted")


def looked_up(*view: Line) -> list[object]:
    return [zoom.arguments["id"] for zoom in first_zooms(view, ANNA)]


def test_answers_and_questions_that_repeat_the_words_are_left_out() -> None:
    """Else each answer would quote the one before, longer each time."""
    assert looked_up(SAID, ASKED, QUOTED) == [0]


def test_a_line_for_several_messages_may_hold_the_users_words_too() -> None:
    assert looked_up(SAID, QUOTED, MERGED) == [8, 0]


def test_a_reply_is_better_than_nothing() -> None:
    assert looked_up(ASKED, QUOTED) == [2, 1]
