"""Reading a turn back from its log."""

from datetime import UTC, datetime

from onechat_agent.domain.chat import Kind, Message, MessageId
from onechat_agent.domain.delivery import TurnId
from onechat_agent.domain.keys import Place, call_key, end_key, place_in_turn, result_key, text_key
from onechat_agent.domain.turn_log import LoggedStep, Said, read_turn

TURN = TurnId("ab12")


def message(number: int, key: str, kind: Kind, text: str, *, part: int = 1, parts: int = 1) -> Message:
    return Message(
        id=MessageId(number),
        key=key,
        kind=kind,
        text=text,
        time=datetime(2026, 1, 1, tzinfo=UTC),
        zone="UTC",
        source="",
        turn="",
        step=0,
        call="",
        images=(),
        part=part,
        parts=parts,
    )


def test_keys_are_read_as_they_were_made() -> None:
    assert place_in_turn(text_key(TURN, 3), TURN) == Place(step=3)
    assert place_in_turn(call_key(TURN, 3, 2), TURN) == Place(step=3, call=2)
    assert place_in_turn(result_key(TURN, 3, 2), TURN) == Place(step=3, call=2, result=True)


def test_deliveries_and_other_turns_have_no_place() -> None:
    for key in ("d:5", text_key(TurnId("other"), 1), end_key(TURN), "t:ab12:x", "t:ab12:1:2:3:4"):
        assert place_in_turn(key, TURN) is None


def test_a_step_has_its_text_its_calls_and_their_results_whatever_their_order() -> None:
    log = read_turn(
        [
            message(7, "d:1", Kind.USER, "go"),
            message(8, text_key(TURN, 1), Kind.REPLY, "I look."),
            message(9, call_key(TURN, 1, 1), Kind.TOOL, 'shell {"command": "ls -la"}'),
            message(10, call_key(TURN, 1, 2), Kind.TOOL, "date {}"),
            message(11, result_key(TURN, 1, 2), Kind.ECHO, "Monday"),
        ],
        TURN,
    )

    step = log.last_step
    assert step is not None
    assert (step.text, [call.name for call in step.calls]) == ("I look.", ["shell", "date"])
    assert step.calls[0].arguments == '{"command": "ls -la"}'
    assert [call.call for call in log.open_calls] == [1]
    assert (log.length, log.final_text, log.keys) == (12, None, {"d:1"})


def test_a_reply_without_a_call_is_the_final_text() -> None:
    assert read_turn([message(3, text_key(TURN, 1), Kind.REPLY, "done")], TURN).final_text == "done"


def test_what_joined_after_a_step_keeps_its_place() -> None:
    log = read_turn(
        [
            message(1, call_key(TURN, 1, 1), Kind.TOOL, "date {}"),
            message(2, result_key(TURN, 1, 1), Kind.ECHO, "Monday"),
            message(3, "d:2", Kind.USER, "and this"),
        ],
        TURN,
    )

    assert [type(entry) for entry in log.entries] == [LoggedStep, Said]
    assert log.final_text is None


def test_onechats_own_ending_is_the_final_text() -> None:
    log = read_turn(
        [message(1, "d:1", Kind.USER, "go"), message(2, end_key(TURN), Kind.REPLY, "limit")], TURN
    )

    assert log.final_text == "limit"


def test_the_pieces_of_a_long_text_are_one_again() -> None:
    log = read_turn(
        [
            message(1, "d:1", Kind.USER, "first half, ", part=1, parts=2),
            message(2, "d:1", Kind.USER, "second half", part=2, parts=2),
        ],
        TURN,
    )

    assert [entry.text for entry in log.entries] == ["first half, second half"]
