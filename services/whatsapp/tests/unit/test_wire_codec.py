"""What goes over the pipe comes out as it went in, whatever it is."""

from dataclasses import fields
from datetime import UTC, datetime
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from onechat.whatsapp.v1 import wire_pb2
from onechat_whatsapp.wire.calls import Answer, Call, Failed, Failure, error_of, failed_of
from onechat_whatsapp.wire.codec import (
    answer_in,
    body_of_answer,
    body_of_call,
    body_of_event,
    call_in,
    event_in,
    field_of,
)
from onechat_whatsapp.wire.events import WireEvent
from onechat_whatsapp.wire.frames import FrameBroken
from onechat_whatsapp.wire.ports import (
    DialFailed,
    LibraryMissing,
    NotSent,
    OutcomeUnknown,
    PairingRefused,
    WireGone,
)

INSTANTS = st.integers(0, 4_000_000_000).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))
st.register_type_strategy(datetime, INSTANTS)
st.register_type_strategy(int, st.integers(0, 2**31 - 1))


@pytest.mark.parametrize(
    ("oneof", "kinds"),
    [
        (wire_pb2.WireCall, get_args(Call)),
        (wire_pb2.WireAnswer, get_args(Answer)),
        (wire_pb2.WireEvent, get_args(WireEvent)),
    ],
    ids=["calls", "answers", "events"],
)
def test_each_value_has_a_message_with_the_same_fields_and_each_message_a_value(oneof, kinds):
    (choice,) = oneof.DESCRIPTOR.oneofs
    there = {field.name: {inner.name for inner in field.message_type.fields} for field in choice.fields}

    assert there == {field_of(kind): {each.name for each in fields(kind)} for kind in kinds}


@given(st.integers(1, 2**40), st.one_of(*map(st.from_type, get_args(Call))))
def test_a_call_comes_out_as_it_went_in(number, call):
    assert call_in(body_of_call(number, call)) == (number, call)


@given(st.integers(1, 2**40), st.one_of(*map(st.from_type, get_args(Answer))))
def test_an_answer_comes_out_as_it_went_in(number, answer):
    assert answer_in(body_of_answer(number, answer)) == (number, answer)


@given(st.one_of(*map(st.from_type, get_args(WireEvent))))
def test_an_event_comes_out_as_it_went_in(event):
    assert event_in(body_of_event(event)) == event


@pytest.mark.parametrize("read", [call_in, answer_in, event_in])
@pytest.mark.parametrize("body", [b"", b"\xff\xff\xff"], ids=["nothing", "rubbish"])
def test_what_holds_nothing_that_is_known_is_a_broken_frame(read, body):
    with pytest.raises(FrameBroken):
        read(body)


@pytest.mark.parametrize(
    "error",
    [
        WireGone("a"),
        DialFailed("b"),
        LibraryMissing("c"),
        PairingRefused("d"),
        NotSent("e"),
        NotSent("f", offline=True),
        OutcomeUnknown("g"),
    ],
    ids=lambda error: f"{type(error).__name__} {error}",
)
def test_a_failure_of_the_port_comes_out_as_itself(error):
    again = error_of(failed_of(error))

    assert (type(again), str(again)) == (type(error), str(error))
    assert getattr(again, "offline", None) == getattr(error, "offline", None)


def test_what_the_library_raises_besides_is_told_by_its_type():
    assert failed_of(KeyError("x")) == Failed(failure=Failure.GONE, why="KeyError: 'x'")


@pytest.mark.parametrize("kind", [WireGone, DialFailed, PairingRefused, NotSent, OutcomeUnknown, KeyError])
def test_nobodys_number_is_in_what_is_answered_for_it_is_logged(kind):
    failed = failed_of(kind("no LID found for 15550002222@s.whatsapp.net from server, error 479"))

    assert failed.why.endswith(("no LID found for …@s.whatsapp.net from server, error 479", "error 479'"))
    assert "15550002222" not in failed.why


def test_a_value_that_there_is_none_of_is_a_broken_frame():
    """Whoever raised anything else would no longer be listened to, and nobody would be told."""
    answer = wire_pb2.WireAnswer(number=1, failed=wire_pb2.WireAnswer.Failed(failure="of another kind"))
    event = wire_pb2.WireEvent()
    event.heard.time.seconds = 2**60

    with pytest.raises(FrameBroken):
        answer_in(answer.SerializeToString())
    with pytest.raises(FrameBroken):
        event_in(event.SerializeToString())
