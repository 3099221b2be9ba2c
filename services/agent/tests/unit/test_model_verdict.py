"""Which failure a server's refusal is, and what the user is told of it."""

from typing import Any

import pytest
from onechat_agent.model.endpoint import Endpoint, Lack
from onechat_agent.model.failures import (
    BadKey,
    BadRequest,
    ContextTooLong,
    Filtered,
    ModelFailure,
    QuotaUsedUp,
    Trouble,
    UnknownModel,
    Unreachable,
)
from onechat_agent.model.items import CallItem, ModelRequest, OutputItem, Picture, ReasoningItem, UserItem
from onechat_agent.model.verdict import Refusal, retry_after_s, verdict
from onechat_agent.model.wire import request_body

FULL = Endpoint()
BODY = request_body(
    ModelRequest(
        system="You are One.",
        tools=({"type": "function", "name": "date", "parameters": {}, "strict": True},),
        items=(
            UserItem(text="<chat>\n0+1|user: hi\n</chat>"),
            ReasoningItem(raw={"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}),
            CallItem(call_id="c", name="date", arguments="{}"),
            OutputItem(call_id="c", text="", pictures=(Picture(media_type="image/png", content=b"x"),)),
        ),
        model="m-1",
        effort="low",
        cache_key="k",
        max_output_tokens=100,
    ),
    FULL,
)


def judged(endpoint: Endpoint = FULL, **fields: Any) -> ModelFailure:
    return verdict(Refusal(**fields), body=BODY, endpoint=endpoint)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_asked_again_after_the_time_the_server_names(status):
    failure = judged(status=status, retry_after_s=17.0)

    assert isinstance(failure, Unreachable)
    assert failure.retriable
    assert failure.retry_after_s == 17.0


def test_a_used_up_quota_is_not_taken_for_a_busy_server():
    """Both come as 429, and only the code tells that waiting alone will not help."""
    failure = judged(status=429, code="insufficient_quota", retry_after_s=1.0)

    assert isinstance(failure, QuotaUsedUp)
    assert failure.lasting
    assert not failure.retriable


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"status": 401, "code": "invalid_api_key"}, BadKey),
        ({"status": 401}, BadKey),
        ({"status": 403, "code": "unsupported_country_region_territory"}, BadKey),
        ({"status": 402}, QuotaUsedUp),
        ({"status": 429, "kind": "insufficient_quota"}, QuotaUsedUp),
        ({"status": 400, "kind": "server_error"}, BadRequest),
        ({"status": 404, "code": "model_not_found"}, UnknownModel),
        ({"status": 403, "code": "model_not_found"}, UnknownModel),
        (
            {"status": 404, "code": "api_error", "words": 'model "m-1" not found, try pulling it first'},
            UnknownModel,
        ),
        ({"status": 400, "words": "The requested model 'm-1' does not exist."}, UnknownModel),
        ({"status": 400, "code": "context_length_exceeded"}, ContextTooLong),
        ({"status": 400, "words": "the request exceeds the available context size"}, ContextTooLong),
        ({"status": 413}, ContextTooLong),
        ({"status": 400, "code": "content_filter"}, Filtered),
        ({"status": 400, "code": "invalid_prompt"}, Filtered),
        ({"status": 400, "code": "invalid_image_format"}, BadRequest),
        ({"status": 404, "words": "Not Found"}, BadRequest),
        ({"status": 422, "words": "cannot parse"}, BadRequest),
        ({"status": 451}, BadRequest),
    ],
)
def test_each_refusal_is_one_kind(fields, kind):
    assert type(judged(**fields)) is kind


def test_an_unknown_model_is_named():
    assert "m-1" in judged(status=404, code="model_not_found").sentence


def test_a_server_without_the_responses_api_is_said_to_be_one():
    assert "/v1" in judged(status=404, words="404 page not found").sentence


@pytest.mark.parametrize(
    ("fields", "lack"),
    [
        ({"param": "prompt_cache_options", "code": "unknown_parameter"}, Lack.CACHE_OPTIONS),
        ({"param": "prompt_cache_key"}, Lack.CACHE_OPTIONS),
        ({"words": "Unknown parameter: 'input[0].content[0].prompt_cache_breakpoint'."}, Lack.CACHE_OPTIONS),
        ({"param": "input[0].content"}, Lack.CACHE_OPTIONS),
        ({"param": "parallel_tool_calls"}, Lack.PARALLEL_CALLS),
        ({"words": "extra fields not permitted: parallel_tool_calls"}, Lack.PARALLEL_CALLS),
        ({"param": "tools[0].strict"}, Lack.STRICT),
        ({"param": "include"}, Lack.ENCRYPTED_REASONING),
        ({"words": "Encrypted content is not supported with this model."}, Lack.ENCRYPTED_REASONING),
        ({"param": "input[1]"}, Lack.ENCRYPTED_REASONING),
        ({"param": "input[3].output"}, Lack.TOOL_IMAGES),
        ({"words": "'output' must be a string"}, Lack.TOOL_IMAGES),
        ({"words": "content type 'input_image' of function_call_output is not supported"}, Lack.TOOL_IMAGES),
    ],
)
def test_a_400_that_names_a_switch_says_which_to_add(fields, lack):
    failure = judged(status=400, **fields)

    assert isinstance(failure, BadRequest)
    assert failure.switch is lack
    assert f"Add {lack} to ONECHAT_ENDPOINT_LACKS" in failure.sentence


@pytest.mark.parametrize(
    "fields",
    [
        {"words": "Please include a valid amount of items."},
        {"words": "Restrictions apply."},
        {"param": "max_output_tokens", "words": "max_output_tokens: must be a number, not a string"},
        {"param": "input[99]"},
    ],
)
def test_a_400_about_something_else_names_no_switch(fields):
    failure = judged(status=400, **fields)

    assert isinstance(failure, BadRequest)
    assert failure.switch is None


def test_a_switch_that_is_set_already_is_not_advised_again():
    endpoint = Endpoint(lacks=frozenset({Lack.STRICT}))

    assert getattr(judged(endpoint, status=400, param="strict"), "switch", None) is None


@pytest.mark.parametrize("status", [400, 401, 404, 413, 418, 429, 500])
@pytest.mark.parametrize("code", ["", "sk-secret words", "x" * 100])
def test_no_word_of_the_server_and_no_key_is_passed_on(status, code):
    failure = judged(
        status=status, code=code, words="Incorrect API key sk-secret: my message", param="sk-secret"
    )

    told = f"{failure.sentence} {failure} {failure.code}"
    assert "sk-secret" not in told
    assert "message" not in told
    assert "x" * 65 not in told
    assert "\n" not in failure.sentence


def test_a_busy_server_and_a_faulty_one_are_told_apart():
    busy, faulty = judged(status=429), judged(status=500)

    assert isinstance(busy, Unreachable)
    assert isinstance(faulty, Unreachable)
    assert (busy.trouble, faulty.trouble) == (Trouble.BUSY, Trouble.SERVER)
    assert busy.sentence != faulty.sentence


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "20"}, 20.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "20"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Mon, 30 Nov 2026 10:00:30 GMT", "date": "Mon, 30 Nov 2026 10:00:00 GMT"}, 30.0),
        ({"retry-after": "Mon, 30 Nov 2026 09:00:00 GMT", "date": "Mon, 30 Nov 2026 10:00:00 GMT"}, 0.0),
        ({"retry-after": "Mon, 30 Nov 2026 10:00:30 GMT"}, None),
    ],
)
def test_the_wait_that_a_server_asks_for_is_read_in_each_of_its_forms(headers, seconds):
    assert retry_after_s(headers) == seconds
