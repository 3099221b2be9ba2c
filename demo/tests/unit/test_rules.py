"""Which requests are refused, and how the refusal reads."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from onechat_demo.lacks import Lack
from onechat_demo.refusals import RequestRefused
from onechat_demo.rules import Rules, read_body

Turn = Callable[..., dict[str, Any]]
CALL = {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "x"}
REPLY = {"role": "assistant", "content": [{"type": "output_text", "text": "yes"}]}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"}
PICTURE = {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,iVBORw0KGgo="}


def refused(body: dict[str, Any], rules: Rules | None = None) -> RequestRefused:
    with pytest.raises(RequestRefused) as caught:
        (rules or Rules()).check(body)
    return caught.value


def test_a_whole_turn_is_taken(turn: Turn) -> None:
    Rules().check(
        turn(
            "hello",
            {"role": "user", "content": [{"type": "input_text", "text": "look"}, PICTURE]},
            REASONING,
            {**CALL, "id": "fc_1"},
            REASONING | {"id": "rs_2"},
            CALL | {"call_id": "c2"},
            OUTPUT,
            {**OUTPUT, "call_id": "c2", "output": [{"type": "input_text", "text": "t"}, PICTURE]},
            {**REPLY, "phase": "commentary"},
            "more",
            stream=True,
            include=["reasoning.encrypted_content"],
            prompt_cache_key="k",
            prompt_cache_options={"mode": "implicit", "ttl": "30m"},
            reasoning={"effort": "medium"},
            truncation="disabled",
            tool_choice="auto",
            parallel_tool_calls=True,
            max_output_tokens=16_000,
            metadata={"a": "b"},
        )
    )


def test_store_may_be_left_out_or_true(turn: Turn) -> None:
    for store in (True, False, None):
        Rules().check(turn("hello", store=store))


@pytest.mark.parametrize(
    ("change", "param", "code"),
    [
        ({"max_tokens": 5}, "max_tokens", "unknown_parameter"),
        ({"messages": []}, "messages", "unknown_parameter"),
        ({"input": ""}, "input", "empty_string"),
        ({"input": []}, "input", "empty_array"),
        ({"input": 3}, "input", "invalid_type"),
        ({"model": None}, "model", "invalid_type"),
        ({"stream": "yes"}, "stream", "invalid_type"),
        ({"max_output_tokens": True}, "max_output_tokens", "invalid_type"),
        ({"max_output_tokens": 3}, "max_output_tokens", "integer_below_min_value"),
        ({"temperature": 3}, "temperature", "integer_above_max_value"),
        ({"include": ["everything"]}, "include[0]", "invalid_value"),
        ({"reasoning": {"effort": "huge"}}, "reasoning.effort", "invalid_value"),
        ({"reasoning": {"budget": 1}}, "reasoning.budget", "unknown_parameter"),
        ({"prompt_cache_options": {"ttl": "1h"}}, "prompt_cache_options.ttl", "invalid_value"),
        ({"prompt_cache_key": "k" * 65}, "prompt_cache_key", "string_above_max_length"),
        ({"truncation": "off"}, "truncation", "invalid_value"),
        ({"service_tier": "gold"}, "service_tier", "invalid_value"),
        ({"text": {"format": {"type": "xml"}}}, "text.format.type", "invalid_value"),
        ({"metadata": {"a": 1}}, "metadata.a", "invalid_type"),
        ({"tool_choice": "any"}, "tool_choice", "invalid_value"),
        ({"tool_choice": {"type": "function", "name": "nope"}}, "tool_choice", None),
        ({"stream_options": {"include_obfuscation": False}}, "stream_options", None),
        ({"stream_options": {"include_usage": True}}, "stream_options.include_usage", "unknown_parameter"),
        ({"background": True}, "background", "unsupported_value"),
        ({"previous_response_id": "resp_1"}, "previous_response_id", "previous_response_not_found"),
    ],
)
def test_a_wrong_parameter_is_named(turn: Turn, change: dict[str, Any], param: str, code: str | None) -> None:
    error = refused(turn("hello", **change))

    assert (error.status, error.param, error.code) == (400, param, code)


@pytest.mark.parametrize("name", ["model", "input"])
def test_model_and_input_are_required(turn: Turn, name: str) -> None:
    body = turn("hello")
    del body[name]

    assert refused(body).code == "missing_required_parameter"


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([CALL], "No tool output found for function call c1."),
        ([OUTPUT], "No tool call found for function call output with call_id c1."),
        ([OUTPUT, CALL], "No tool call found for function call output with call_id c1."),
        ([CALL, CALL, OUTPUT], "Duplicate function call id: 'c1'."),
        ([CALL, OUTPUT, OUTPUT], "Duplicate function call output: 'c1'."),
        (
            [REASONING, {"role": "user", "content": "hi"}],
            "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        ),
        ([REASONING], "Item 'rs_1' of type 'reasoning' was provided without its required following item."),
    ],
)
def test_items_that_do_not_belong_together_are_refused(
    turn: Turn, items: list[dict[str, Any]], message: str
) -> None:
    assert refused(turn(*items)).message == message


@pytest.mark.parametrize(
    ("item", "param"),
    [
        ({"type": "thought", "text": "x"}, "input[2].type"),
        ({"text": "x"}, "input[2].type"),
        ({"role": "tool", "content": "x"}, "input[2].role"),
        ({"role": "user"}, "input[2].content"),
        ({"role": "user", "content": 3}, "input[2].content"),
        ({"role": "user", "content": "x", "name": "Ada"}, "input[2].name"),
        ({"role": "user", "content": [{"type": "text", "text": "x"}]}, "input[2].content[0].type"),
        ({"role": "user", "content": [{"type": "input_text"}]}, "input[2].content[0].text"),
        ({"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}, "input[2].content[0].type"),
        ({"role": "assistant", "content": "x", "phase": "end"}, "input[2].phase"),
        ({"role": "assistant", "content": "x", "id": "item_1"}, "input[2].id"),
        ({**CALL, "status": None}, "input[2].status"),
        ({**CALL, "call_id": ""}, "input[2].call_id"),
        ({**CALL, "call_id": "c" * 65}, "input[2].call_id"),
        ({**CALL, "arguments": {"command": "ls"}}, "input[2].arguments"),
        ({**OUTPUT, "output": {"text": "x"}}, "input[2].output"),
        ({**OUTPUT, "output": [{"type": "output_text", "text": "x"}]}, "input[2].output[0].type"),
        ({**REASONING, "status": "completed"}, "input[2].status"),
        ({"role": "user", "content": [{**PICTURE, "image_url": "cat.png"}]}, "input[2].content[0].image_url"),
        (
            {"role": "user", "content": [{**PICTURE, "image_url": "data:image/png;base64,@@"}]},
            "input[2].content[0].image_url",
        ),
        (
            {"role": "user", "content": [{**PICTURE, "image_url": "data:image/bmp;base64,AAAA"}]},
            "input[2].content[0].image_url",
        ),
        (
            {"role": "user", "content": [{"type": "input_text", "text": "x", "prompt_cache_breakpoint": {}}]},
            "input[2].content[0].prompt_cache_breakpoint.mode",
        ),
    ],
)
def test_a_wrong_item_is_named_by_its_place(turn: Turn, item: dict[str, Any], param: str) -> None:
    assert refused(turn(item)).param == param


def test_an_unknown_model_is_refused_where_there_is_a_list(turn: Turn) -> None:
    error = refused(turn("hello"), Rules(models=frozenset({"gpt-6-sol"})))

    assert error.code == "model_not_found"
    assert error.body() == {
        "error": {
            "message": "The requested model 'demo' does not exist.",
            "type": "invalid_request_error",
            "param": "model",
            "code": "model_not_found",
        }
    }


@pytest.mark.parametrize(
    ("lack", "body", "param"),
    [
        (Lack.ENCRYPTED_REASONING, {"include": ["reasoning.encrypted_content"]}, "include"),
        (Lack.CACHE_OPTIONS, {"prompt_cache_key": "k"}, "prompt_cache_key"),
        (Lack.STRICT, {}, "tools[0].strict"),
        (Lack.PARALLEL_CALLS, {"parallel_tool_calls": True}, "parallel_tool_calls"),
    ],
)
def test_a_server_that_lacks_something_names_what_it_does_not_know(
    turn: Turn, lack: Lack, body: dict[str, Any], param: str
) -> None:
    error = refused(turn("hello", **body), Rules(lacks=frozenset({lack})))

    assert (error.param, error.code) == (param, "unsupported_parameter")


def test_a_server_without_tool_images_refuses_them(turn: Turn) -> None:
    rules = Rules(lacks=frozenset({Lack.TOOL_IMAGES}))

    assert refused(turn(CALL, {**OUTPUT, "output": [PICTURE]}), rules).param == "input[3].output"


def test_a_server_without_strict_takes_loose_tools(turn: Turn, tools: list[dict[str, Any]]) -> None:
    loose = [{key: value for key, value in tool.items() if key != "strict"} for tool in tools]

    Rules(lacks=frozenset({Lack.STRICT})).check(turn("hello", tools=loose))


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"input": "\\ud83c"}', b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_object_of_unicode_text_is_refused(raw: bytes) -> None:
    with pytest.raises(RequestRefused):
        read_body(raw)


def test_a_body_is_read_whole() -> None:
    assert read_body(json.dumps({"input": "\U0001f378"}).encode()) == {"input": "\U0001f378"}
