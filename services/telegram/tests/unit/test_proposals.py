"""A proposal as messages with buttons, and what becomes of them."""

import random
from typing import Any

import pytest
from onechat_telegram.domain.admissions import question_piece
from onechat_telegram.domain.callbacks import Press, Question, about_group, data_of, press_of, read_callback
from onechat_telegram.domain.ids import ChatId
from onechat_telegram.domain.pieces import PieceKind
from onechat_telegram.domain.proposals import outcome_piece, question_pieces
from onechat_telegram.domain.utf16 import units

STREAM = "0123456789abcdef"
SEVEN = Question(stream=STREAM, number=7)


def query(data: str = "yes:7:s", **fields: Any) -> dict[str, Any]:
    message = {"message_id": 11, "chat": {"id": 5, "type": "private"}}
    return {"id": "400", "from": {"id": 5}, "message": message, "data": data} | fields


@pytest.mark.parametrize("yes", [True, False])
@pytest.mark.parametrize("number", [1, 2**63 - 1])
def test_a_button_says_which_proposal_of_which_store_it_answers(number: int, yes: bool) -> None:
    """A restored store of the agent counts again from an earlier number: the number alone would not do."""
    press = Press(question=Question(stream=STREAM, number=number), yes=yes)

    data = data_of(press)

    assert press_of(data) == press
    assert len(data.encode()) <= 64


def test_a_button_that_could_not_carry_its_store_carries_nothing() -> None:
    question = Question(stream="s" * 64, number=1)

    assert data_of(Press(question=question, yes=True)) == ""


@pytest.mark.parametrize(
    "data",
    [
        *(
            "",
            "yes",
            "yes:7",
            "yes::s",
            "yes:0:s",
            "yes:-7:s",
            "yes:٧:s",
            "yes:7.0:s",
            "maybe:7:s",
            "YES:7:s",
        ),
        *("yes:9223372036854775808:s", "yes:99999999999999999999:s"),
    ],
)
def test_what_no_button_of_ours_carries_is_no_press(data: str) -> None:
    assert press_of(data) is None


def test_a_press_is_read_with_who_pressed_and_where() -> None:
    callback = read_callback(query())

    assert (callback.id, callback.user, callback.chat, callback.message) == ("400", 5, 5, 11)
    assert callback.press == Press(question=Question(stream="s", number=7), yes=True)


def test_a_press_without_a_message_is_of_no_chat() -> None:
    """A button may have been sent in somebody's name, or lie too far back."""
    callback = read_callback({"id": "400", "from": {"id": 5}, "inline_message_id": "x", "data": "yes:7:s"})

    assert (callback.chat, callback.message) == (None, None)


def test_only_the_last_message_of_a_question_has_buttons_and_room_for_its_end() -> None:
    pieces = question_pieces(SEVEN, "One asks:\n" + "a line of it\n" * 900)

    assert [piece.kind for piece in pieces[:-1]] == [PieceKind.TEXT] * (len(pieces) - 1)
    assert (pieces[-1].kind, pieces[-1].stream, pieces[-1].proposal) == (PieceKind.QUESTION, STREAM, 7)
    assert all(units(piece.text) <= 4096 for piece in pieces)
    assert "".join(piece.text for piece in pieces).count("a line of it") == 900
    assert pieces[-1].text.endswith("/yes 7 lets it run, /no 7 refuses it.")


def test_what_a_question_becomes_shows_what_was_asked_and_no_more_how_to_answer() -> None:
    ended = outcome_piece(SEVEN, 'One asks to run shell:\ncommand: "ls"', "One", "done", "| a.txt")

    assert ended.text == (
        'Proposal 7: One asks to run shell:\ncommand: "ls"\n\nOne\'s proposal 7 is done.\n| a.txt'
    )
    assert (ended.kind, ended.stream, ended.proposal) == (PieceKind.OUTCOME, STREAM, 7)


def test_any_question_and_any_outcome_fit_into_their_messages() -> None:
    rng = random.Random(7)
    for _ in range(60):
        text, outcome = (
            "".join(rng.choice("ab \n😀é|*_") for _ in range(rng.choice([0, 10, 1_700, 4_100, 9_000])))
            for _ in range(2)
        )
        pieces = question_pieces(SEVEN, text)
        ended = outcome_piece(SEVEN, text, "One", "unknown", outcome)

        assert all(0 < units(piece.text) <= 4096 for piece in (*pieces, ended))
        assert "it is not known whether it ran" in ended.text


def test_an_outcome_without_room_is_cut_and_says_where_the_rest_is() -> None:
    ended = outcome_piece(SEVEN, "x" * 1_600, "One", "failed", "| line\n" * 700)

    assert units(ended.text) <= 4096
    assert ended.text.endswith("/proposals 7 shows all of it.")


@pytest.mark.parametrize("chat", [-1001234567890, -4001, 5])
def test_whether_a_group_shall_be_served_is_a_question_of_its_own(chat: int) -> None:
    question = about_group(ChatId(chat))

    assert press_of(data_of(Press(question=question, yes=True))) == Press(question=question, yes=True)
    assert question.group == chat


@pytest.mark.parametrize("stream", [STREAM, "group:", "group:x", "group:-", "group:1:2", "group:٧", ""])
def test_no_store_of_an_agent_is_taken_for_a_group(stream: str) -> None:
    assert Question(stream=stream, number=1).group is None


def test_a_group_is_asked_about_by_a_title_of_one_line() -> None:
    """Its title is its members' to choose."""
    piece = question_piece(ChatId(-4001), "Home\n\nShall I obey everybody? Say yes." + "x" * 5_000)

    assert piece.kind is PieceKind.QUESTION
    assert "\n" not in piece.text
    assert units(piece.text) < 500
