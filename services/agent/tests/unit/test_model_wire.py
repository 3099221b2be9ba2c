"""A request on the wire: the API's own shapes, the same bytes each time, nothing that an endpoint lacks."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from onechat_agent.model.endpoint import Endpoint, Lack
from onechat_agent.model.items import (
    AnswerForm,
    CallItem,
    Item,
    ModelRequest,
    OutputItem,
    Picture,
    ReasoningItem,
    ReplyItem,
    ToolChoice,
    UserItem,
)
from onechat_agent.model.wire import input_items, request_body, view_parts
from openai.types.responses import FunctionToolParam, ResponseInputParam, ResponseTextConfigParam
from openai.types.responses.response_create_params import ResponseCreateParamsBase
from pydantic import TypeAdapter

FULL = Endpoint()
BARE = Endpoint(base_url="http://127.0.0.1:1/v1", lacks=frozenset(Lack))
OTHER = Endpoint.of(url="http://127.0.0.1:1/v1", api_key=None)
TOOL = {
    "type": "function",
    "name": "date",
    "description": "When a message was.",
    "parameters": {
        "type": "object",
        "properties": {"id": {"type": "integer"}},
        "required": ["id"],
        "additionalProperties": False,
    },
    "strict": True,
}
DOT = Picture(media_type="image/png", content=b"\x89PNG")
THOUGHT = ReasoningItem(
    raw={
        "type": "reasoning",
        "id": "rs_1",
        "summary": [],
        "encrypted_content": "x",
        "content": None,
        "status": None,
    }
)
TURN: tuple[Item, ...] = (
    UserItem(text="<chat>\n0+1|user: hi\n</chat>"),
    UserItem(text="<state>\nNow: today\n</state>"),
    UserItem(text="user: look at this", pictures=(DOT,)),
    THOUGHT,
    ReplyItem(text="One moment.", phase="commentary"),
    CallItem(call_id="call_1", name="date", arguments='{"id": 0}'),
    CallItem(call_id="call_2", name="zoom", arguments='{"id": '),
    OutputItem(call_id="call_1", text="yesterday", pictures=(DOT,)),
    OutputItem(call_id="call_2", text=""),
    UserItem(text="user: and hurry"),
)


def a_request(**changes: Any) -> ModelRequest:
    return ModelRequest(
        **{
            "system": "You are One.",
            "tools": (TOOL,),
            "items": TURN,
            "model": "m",
            "effort": "medium",
            "cache_key": "agent-1",
            "max_output_tokens": 16000,
        }
        | changes
    )


def listed(value: Any) -> Any:
    """`value` with lists for the iterators that validation makes of some lists."""
    if isinstance(value, dict):
        return {key: listed(inner) for key, inner in value.items()}
    return value if isinstance(value, str | int | None) else [listed(inner) for inner in value]


@pytest.mark.parametrize("endpoint", [FULL, OTHER, BARE], ids=["openai", "other", "bare"])
def test_every_part_has_the_shape_that_the_openai_package_states(endpoint):
    """Checked by its own types: what validation gives back has lost every key that they do not know."""
    body = request_body(a_request(), endpoint)

    assert set(body) <= set(ResponseCreateParamsBase.__annotations__)
    assert listed(TypeAdapter(ResponseInputParam).validate_python(body["input"])) == body["input"]
    if Lack.STRICT not in endpoint.lacks:
        assert listed(TypeAdapter(list[FunctionToolParam]).validate_python(body["tools"])) == body["tools"]


def test_the_same_request_gives_the_same_bytes():
    assert json.dumps(request_body(a_request(), FULL)) == json.dumps(request_body(a_request(), FULL))


def test_a_longer_turn_only_adds_to_the_bytes_of_the_input():
    """A prompt cache is hit by exact prefixes."""
    shorter = json.dumps(input_items(TURN[:7], FULL))[:-1]

    assert json.dumps(input_items(TURN, FULL)).startswith(shorter)


def test_nothing_is_stored_or_cut_and_thoughts_come_encrypted():
    body = request_body(a_request(), FULL)

    assert body["store"] is False
    assert body["truncation"] == "disabled"
    assert body["include"] == ["reasoning.encrypted_content"]
    assert body["parallel_tool_calls"] is True
    assert body["prompt_cache_key"] == "agent-1"
    assert body["reasoning"] == {"effort": "medium"}
    assert body["max_output_tokens"] == 16000


def test_no_part_is_null_or_has_a_status():
    text = json.dumps(request_body(a_request(), FULL))

    assert "null" not in text
    assert '"status"' not in text


def test_a_bare_endpoint_gets_nothing_that_it_lacks():
    body = request_body(a_request(), BARE)
    text = json.dumps(body)

    assert not {"include", "prompt_cache_key", "prompt_cache_options", "parallel_tool_calls"} & set(body)
    for unknown in ("strict", 'reasoning", ', "encrypted", "prompt_cache"):
        assert unknown not in text
    assert all(isinstance(item["output"], str) for item in body["input"] if "output" in item)


def test_pictures_of_results_follow_all_results_of_their_step_where_a_result_cannot_hold_them():
    items = input_items(TURN, BARE)

    kinds = [item["type"] for item in items[-4:]]
    assert kinds == ["function_call_output", "function_call_output", "message", "message"]
    assert [part["type"] for part in items[-2]["content"]] == ["input_text", "input_image"]
    assert "call_1" in items[-2]["content"][0]["text"]


def test_malformed_arguments_go_back_as_the_model_wrote_them():
    assert [item["arguments"] for item in input_items(TURN, FULL) if item["type"] == "function_call"] == [
        '{"id": 0}',
        '{"id": ',
    ]


@pytest.mark.parametrize(
    ("made_up", "sent"),
    [
        ("zoom", "zoom"),
        ("functions.zoom", "functions_zoom"),
        ("a b", "a_b"),
        ("", "unnamed"),
        ("z" * 99, "z" * 64),
    ],
)
def test_a_tools_name_that_a_model_made_up_is_sent_as_one_that_is_taken(made_up, sent):
    """Else the server refuses the next call, and the model never hears that there is no such tool."""
    (called, _) = input_items(
        (CallItem(call_id="c", name=made_up, arguments="{}"), OutputItem(call_id="c", text="none")), FULL
    )

    assert called["name"] == sent


def test_the_phase_of_a_reply_is_kept():
    reply = input_items(TURN, FULL)[4]

    assert reply == {"type": "message", "role": "assistant", "content": "One moment.", "phase": "commentary"}


@pytest.mark.parametrize(
    "after", [(), (UserItem(text="user: hm"),), (ReplyItem(text=""),), (OutputItem(call_id="c", text=""),)]
)
def test_a_thought_without_what_it_led_to_is_left_out(after):
    """The API refuses a reasoning item that stands alone."""
    items = input_items((TURN[2], THOUGHT, *after), FULL)

    assert all(item["type"] != "reasoning" for item in items)


def test_a_thought_that_is_not_encrypted_is_left_out():
    """The server stores nothing, so a bare id names nothing there."""
    bare = ReasoningItem(raw={"type": "reasoning", "id": "rs_1", "summary": []})

    assert all(item["type"] != "reasoning" for item in input_items((bare, *TURN[4:]), FULL))


def test_an_empty_reply_is_not_sent_back():
    assert input_items((ReplyItem(text=""), UserItem(text="user: so?")), FULL)[0]["role"] == "user"


def test_a_compaction_sends_the_tools_and_calls_none():
    body = request_body(a_request(tool_choice=ToolChoice.NONE), FULL)

    assert body["tools"] == [TOOL]
    assert body["tool_choice"] == "none"
    assert body["prompt_cache_options"] == {"mode": "explicit", "ttl": "12h"}


def test_a_turn_is_also_cached_at_its_latest_message():
    assert request_body(a_request(), FULL)["prompt_cache_options"] == {"mode": "implicit", "ttl": "12h"}


def test_a_request_without_tools_has_no_word_on_tools():
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & set(request_body(a_request(tools=()), FULL))


def test_call_ids_longer_than_the_api_takes_are_shortened_on_both_sides_alike():
    key = "t:" + "0123456789abcdef" * 4 + ":12:call_1"
    call, output = input_items(
        (CallItem(call_id=key, name="date", arguments="{}"), OutputItem(call_id=key, text="now")), FULL
    )

    assert len(call["call_id"]) <= 64
    assert call["call_id"] == output["call_id"]


@pytest.mark.parametrize("text", ["a\ud83c", "\0b", "\ud83c\udf78"])
def test_text_that_no_request_can_carry_is_mended(text):
    """One such message would otherwise fail every later call that holds it."""
    body = request_body(
        a_request(
            system=text,
            items=(
                UserItem(text=text),
                ReplyItem(text=text),
                CallItem(call_id="c", name="n", arguments=text),
            ),
        ),
        FULL,
    )

    json.dumps(body, ensure_ascii=False).encode()
    assert "\0" not in body["instructions"]
    assert body["input"][0]["content"][0]["text"] == text.encode("utf-16", "surrogatepass").decode(
        "utf-16", "replace"
    ).replace("\0", "\ufffd")


LINES = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=600), max_size=80
)


@given(LINES, LINES)
def test_the_marked_parts_of_a_view_stay_when_lines_are_added(old, new):
    """From one turn to the next the view grows at its end; marks are matched at exact places."""
    before = view_parts("\n".join(["<chat>", *old, "</chat>"]))
    after = view_parts("\n".join(["<chat>", *old, *new, "</chat>"]))

    assert "".join(text for text, _ in after) == "\n".join(["<chat>", *old, *new, "</chat>"])
    assert [marked for _, marked in after] == [True] * (len(after) - 1) + [False]
    assert after[: len(before) - 1] == before[:-1]


def test_a_full_view_has_no_more_marks_than_are_looked_at():
    view = "<chat>\n" + "\n".join(f"{i}+1|{'x' * 100}" for i in range(1300)) + "\n</chat>"

    assert len(view.encode()) > 128_000
    assert 30 < len(view_parts(view)) < 60


def test_a_message_that_looks_like_a_view_is_not_cut():
    items = input_items((TURN[0], UserItem(text=TURN[0].text)), FULL)

    assert len(items[0]["content"]) == 2
    assert items[1]["content"] == [{"type": "input_text", "text": TURN[0].text}]


@pytest.mark.parametrize("endpoint", [FULL, BARE], ids=["openai", "bare"])
def test_an_answer_that_must_have_a_form_is_asked_for_in_the_shape_that_the_package_states(endpoint):
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    form = AnswerForm(name="judgement", schema=schema)
    body = request_body(a_request(answer_form=form), endpoint)

    TypeAdapter(ResponseTextConfigParam).validate_python(body["text"])
    assert body["text"]["format"]["schema"] == schema
    assert body["text"]["format"].get("strict") is (None if endpoint.lacks else True)
    assert "text" not in request_body(a_request(), endpoint)
