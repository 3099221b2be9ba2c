"""Calls, answers and events as the bodies of frames, and back: protobuf, whatsapp/v1/wire.proto.

A value goes into the message of its class's name, field by field: the names there and here are the same,
which the tests of this file hold.
"""

import re
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, Final, TypeVar, get_args

from google.protobuf.message import DecodeError, Message
from google.protobuf.timestamp_pb2 import Timestamp
from onechat.whatsapp.v1 import wire_pb2

from onechat_whatsapp.wire.calls import Answer, Call, Failed, Failure, Groups
from onechat_whatsapp.wire.events import WireEvent
from onechat_whatsapp.wire.frames import FrameBroken
from onechat_whatsapp.wire.ports import GroupRow

M = TypeVar("M", bound=Message)

CALLS: Final[tuple[type[Call], ...]] = get_args(Call)
ANSWERS: Final[tuple[type[Answer], ...]] = get_args(Answer)
EVENTS: Final[tuple[type[WireEvent], ...]] = get_args(WireEvent)


def field_of(kind: type) -> str:
    """The field of the oneof that holds values of `kind`: CaughtUp → caught_up."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


_FIELDS: Final[dict[type, str]] = {kind: field_of(kind) for kind in (*CALLS, *ANSWERS, *EVENTS)}


def body_of_call(number: int, call: Call) -> bytes:
    """The frame's body for `call`, to be answered under `number`."""
    message = wire_pb2.WireCall(number=number)
    _fill(message, call)
    return bytes(message.SerializeToString())


def call_in(body: bytes) -> tuple[int, Call]:
    """What `body_of_call` was given. Raises FrameBroken."""
    message = _parsed(wire_pb2.WireCall, body)
    return message.number, _held(message, "call", CALLS)


def body_of_answer(number: int, answer: Answer) -> bytes:
    """The frame's body for the answer to call `number`."""
    message = wire_pb2.WireAnswer(number=number)
    _fill(message, answer)
    return bytes(message.SerializeToString())


def answer_in(body: bytes) -> tuple[int, Answer]:
    """What `body_of_answer` was given. Raises FrameBroken."""
    message = _parsed(wire_pb2.WireAnswer, body)
    return message.number, _held(message, "answer", ANSWERS)


def body_of_event(event: WireEvent) -> bytes:
    """The frame's body for `event`."""
    message = wire_pb2.WireEvent()
    _fill(message, event)
    return bytes(message.SerializeToString())


def event_in(body: bytes) -> WireEvent:
    """What `body_of_event` was given. Raises FrameBroken."""
    held: WireEvent = _held(_parsed(wire_pb2.WireEvent, body), "event", EVENTS)
    return held


def _fill(message: Message, value: Any) -> None:
    within = getattr(message, _FIELDS[type(value)])
    within.SetInParent()  # else one without fields would not be there
    for name in _names(type(value)):
        _set(within, name, getattr(value, name))


def _set(message: Message, name: str, value: Any) -> None:
    if isinstance(value, datetime):
        getattr(message, name).FromDatetime(value)
    elif isinstance(value, tuple):
        getattr(message, name).extend(
            wire_pb2.WireAnswer.GroupRow(id=row.id, name=row.name) if isinstance(row, GroupRow) else row
            for row in value
        )
    else:
        setattr(message, name, value)


def _parsed(kind: type[M], body: bytes) -> M:
    try:
        return kind.FromString(body)
    except DecodeError as error:
        raise FrameBroken(f"a body that is no {kind.__name__}") from error


def _held(message: Message, oneof: str, kinds: tuple[type, ...]) -> Any:
    name = message.WhichOneof(oneof)
    if name is None:
        raise FrameBroken(f"a frame without {oneof}")
    kind = next(each for each in kinds if _FIELDS[each] == name)
    within = getattr(message, name)
    try:
        values = {each: _plain(getattr(within, each)) for each in _names(kind)}
        if kind is Failed:
            values["failure"] = Failure(values["failure"])
    except (ValueError, OverflowError) as error:
        raise FrameBroken(f"no such value in a frame's {name}") from error
    if kind is Groups:
        values["groups"] = tuple(GroupRow(id=row.id, name=row.name) for row in values["groups"])
    return kind(**values)


def _plain(value: Any) -> Any:
    if isinstance(value, str | bytes | bool | int):
        return value
    return value.ToDatetime(UTC) if isinstance(value, Timestamp) else tuple(value)


def _names(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))
