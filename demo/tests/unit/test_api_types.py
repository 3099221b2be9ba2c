"""Our words against the API's own, as the openai package has them: the demo itself never imports it."""

from collections.abc import Callable
from typing import Any, get_args

import pytest
from onechat_demo.answers import Answer, CutReason, call
from onechat_demo.events import error_event, events, final_response
from onechat_demo.parameters import EFFORTS, INCLUDABLE, PARAMETERS, REASONING_KEYS
from onechat_demo.response import Frame
from onechat_demo.usage import Usage
from openai import BaseModel
from openai.types.responses import Response, ResponseStreamEvent
from openai.types.responses.response_create_params import (
    ResponseCreateParamsNonStreaming,
    ResponseCreateParamsStreaming,
)
from openai.types.responses.response_includable import ResponseIncludable
from openai.types.shared.reasoning_effort import ReasoningEffort
from openai.types.shared_params.reasoning import Reasoning
from pydantic import TypeAdapter

USAGE = Usage(input=10, cached=4, output=3, reasoning=0)
ANSWERS = [
    Answer(text="hello there, this is long enough for two deltas"),
    Answer(),
    Answer(calls=(call("shell", command="ls"), call("date", id=3))),
    Answer(text="I look.", calls=(call("shell", command="ls"),), reasoning="hm"),
    Answer(refusal="No."),
    Answer(text="half", cut=CutReason.LENGTH),
    Answer(cut=CutReason.FILTER),
    Answer(failure=("server_error", "It broke.")),
]


def literals(alias: Any) -> set[str]:
    """The strings of a Literal, optional or not."""
    found: set[str] = set()
    for one in get_args(alias):
        found |= {one} if isinstance(one, str) else literals(one)
    return found


def unknown_fields(model: BaseModel) -> list[str]:
    """Fields that the API's types do not have, at any depth."""
    found = list(model.model_extra or {})
    for value in dict(model).values():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, BaseModel):
                found += unknown_fields(one)
    return found


def frame(turn: Callable[..., dict[str, Any]]) -> Frame:
    body = turn("hi", include=["reasoning.encrypted_content"], prompt_cache_key="k", stream=True)
    return Frame(body=body, token="0" * 24, number=1, created_at=1_790_000_000.0)


def test_the_parameters_are_the_apis() -> None:
    known = set(ResponseCreateParamsNonStreaming.__annotations__) | set(
        ResponseCreateParamsStreaming.__annotations__
    )

    assert set(PARAMETERS) == known


def test_the_literal_values_are_the_apis() -> None:
    assert literals(ResponseIncludable) == INCLUDABLE
    assert literals(ReasoningEffort) == EFFORTS
    assert set(Reasoning.__annotations__) == REASONING_KEYS


@pytest.mark.parametrize("answer", ANSWERS)
def test_each_event_has_the_apis_shape(turn: Callable[..., dict[str, Any]], answer: Answer) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
    sent = events(frame(turn), answer, USAGE)

    read = [adapter.validate_python(event, strict=True) for event in sent]

    assert [event.type for event in read] == [event["type"] for event in sent]
    assert [event.sequence_number for event in read] == list(range(len(sent)))
    assert [field for event in read for field in unknown_fields(event)] == []


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_whole_response_has_the_apis_shape(turn: Callable[..., dict[str, Any]], answer: Answer) -> None:
    response = Response.model_validate(final_response(frame(turn), answer, USAGE), strict=True)

    assert unknown_fields(response) == []
    assert response.output_text == ("" if answer.failure else answer.text)


def test_the_error_event_has_the_apis_shape() -> None:
    event = TypeAdapter(ResponseStreamEvent).validate_python(error_event("server_error", "It broke.", 3))

    assert (event.type, unknown_fields(event)) == ("error", [])


def test_the_events_of_a_reply_come_in_the_apis_order(turn: Callable[..., dict[str, Any]]) -> None:
    kinds = [
        event["type"] for event in events(frame(turn), Answer(text="hi", calls=(call("date", id=1),)), USAGE)
    ]

    assert kinds == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ]
