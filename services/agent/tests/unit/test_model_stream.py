"""A streamed answer: finished by a terminal event alone, and judged by its status."""

from typing import Any

import pytest
from onechat_agent.model.endpoint import Endpoint
from onechat_agent.model.failures import (
    BadRequest,
    Filtered,
    ModelFailure,
    QuotaUsedUp,
    Refused,
    TooLong,
    Trouble,
    Unreachable,
)
from onechat_agent.model.items import CallItem, ReasoningItem, ReplyItem, TokenUsage
from onechat_agent.model.stream import ANSWER_MAX, AnswerReader
from openai.types.responses import ResponseOutputItemDoneEvent

USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 20},
    "output_tokens": 30,
    "output_tokens_details": {"reasoning_tokens": 10},
    "total_tokens": 130,
}
COUNTED = TokenUsage(input=100, cached_input=64, output=30, reasoning=10)


def reader() -> AnswerReader:
    return AnswerReader(body={"model": "m", "input": []}, endpoint=Endpoint())


def read(*events: Any) -> AnswerReader:
    found = reader()
    for event in events:
        found.take(event)
    return found


def delta(text: str) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "delta": text}


def done(item: dict[str, Any], place: int = 0) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": place, "item": item}


def ended(status: str | None = "completed", name: str = "completed", **fields: Any) -> dict[str, Any]:
    response = {"output": [], "usage": USAGE} | fields | ({} if status is None else {"status": status})
    return {"type": f"response.{name}", "response": response}


def message(text: str, **fields: Any) -> dict[str, Any]:
    parts = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": parts,
    } | fields


def a_call(name: str = "date", call_id: str = "call_1", arguments: str = "{}") -> dict[str, Any]:
    return {"type": "function_call", "id": "fc_1", "call_id": call_id, "name": name, "arguments": arguments}


THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x", "status": None}


@pytest.mark.parametrize(
    "event",
    [
        {"type": "response.output_item.added", "output_index": 0, "item": THOUGHT},
        delta("a"),
        ended(),
    ],
    ids=["thought", "text", "end"],
)
def test_an_answer_has_started_with_its_first_part_and_not_with_the_words_before_it(event):
    """Those are sent before the model has read the request: nothing of it is in the cache then."""
    announced = read({"type": "response.created"}, {"type": "response.in_progress"})
    assert not announced.started

    announced.take(event)

    assert announced.started


def test_a_failure_is_no_start():
    failed = read(ended("failed", "failed", error={"code": "server_error", "message": "No."}))

    assert not failed.started


def test_the_items_of_an_answer_keep_their_order_whatever_order_they_finish_in():
    answer = read(
        done(a_call("zoom", "call_2"), 3),
        done(THOUGHT, 0),
        done(message("Let me see.", phase="commentary"), 1),
        done(a_call("date", "call_1"), 2),
        ended(),
    ).answer()

    assert [type(item) for item in answer.items] == [ReasoningItem, ReplyItem, CallItem, CallItem]
    assert [call.call_id for call in answer.calls] == ["call_1", "call_2"]
    assert answer.items[1] == ReplyItem(text="Let me see.", phase="commentary")
    assert answer.usage == COUNTED


@pytest.mark.parametrize("phase", ["completed", "", 1, ["commentary"], None])
def test_a_phase_that_no_server_takes_back_is_left_out(phase):
    """Sent back, it would fail every later call of its turn."""
    answer = read(done(message("hi", phase=phase)), ended()).answer()

    assert answer.items == (ReplyItem(text="hi"),)


def test_items_that_all_claim_the_first_place_are_all_kept():
    """Some servers number every item 0."""
    answer = read(
        done(message("hi")),
        done(a_call() | {"id": None}),
        done(a_call("zoom", "call_2") | {"id": None}),
        ended(),
    ).answer()

    assert [call.name for call in answer.calls] == ["date", "zoom"]
    assert answer.text == "hi"


def test_thoughts_are_kept_for_the_replay_without_nulls_and_status():
    answer = read(done(THOUGHT), done(message("hi"), 1), ended()).answer()

    assert answer.items[0] == ReasoningItem(
        raw={"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
    )


def test_the_packages_own_events_are_read_like_plain_ones():
    event = ResponseOutputItemDoneEvent.model_validate({**done(a_call()), "sequence_number": 1})

    assert read(event, ended()).answer().calls == (CallItem(call_id="call_1", name="date", arguments="{}"),)


def test_malformed_arguments_stay_as_they_are():
    answer = read(done(a_call(arguments='{"path": "a')), ended()).answer()

    assert answer.calls[0].arguments == '{"path": "a'


def test_text_is_passed_on_as_it_comes():
    found = reader()

    assert [found.take(delta(piece)) for piece in ("He", "llo \ud83c", "\udf78")] == ["He", "llo ", "🍸"]
    assert found.streamed == 7


def test_an_answer_without_a_word_is_an_answer():
    answer = read(ended()).answer()

    assert answer.items == ()
    assert answer.text == ""


def test_items_are_taken_from_the_last_event_where_none_was_finished_before():
    answer = read(delta("hi"), ended(output=[message("hi"), a_call()])).answer()

    assert answer.text == "hi"
    assert len(answer.calls) == 1


def test_text_that_only_ever_came_in_pieces_is_the_answer():
    assert read(delta("h"), delta("i"), ended()).answer().text == "hi"


@pytest.mark.parametrize("events", [(), (delta("half an ans"),), (done(message("whole?")),)])
def test_a_stream_that_just_ends_is_a_broken_one(events):
    """Some servers end a stream without its terminal event, and the package raises nothing."""
    with pytest.raises(Unreachable) as failure:
        read(*events).answer()

    assert failure.value.trouble is Trouble.BROKEN
    assert failure.value.retriable


def test_the_status_counts_and_not_the_name_of_the_event():
    with pytest.raises(Filtered):
        read(ended("incomplete", "completed", incomplete_details={"reason": "content_filter"})).answer()
    with pytest.raises(Unreachable):
        read(ended("failed", "completed", error={"code": "server_error", "message": "x"})).answer()
    assert read(done(message("hi")), ended("completed", "done")).answer().text == "hi"


def test_an_event_that_says_over_while_its_status_says_not_is_no_end():
    assert not read(ended("in_progress")).over
    assert read(ended("in_progress"), ended()).over


def test_a_server_that_names_no_status_is_taken_at_the_events_word():
    with pytest.raises(TooLong):
        read(ended(None, "incomplete", incomplete_details={"reason": "max_output_tokens"})).answer()
    assert read(ended(None)).answer().text == ""


@pytest.mark.parametrize(
    ("reason", "kind", "says"),
    [
        ("max_output_tokens", TooLong, "limit"),
        ("content_filter", Filtered, "filter"),
        ("max_messages", TooLong, "max_messages"),
        (None, TooLong, "early"),
    ],
)
def test_an_incomplete_answer_says_why_and_what_it_cost(reason, kind, says):
    with pytest.raises(kind) as failure:
        read(delta("half"), ended("incomplete", "incomplete", incomplete_details={"reason": reason})).answer()

    assert says in failure.value.sentence
    assert failure.value.usage == COUNTED
    assert not failure.value.retriable


def test_an_answer_that_is_larger_than_can_be_kept_is_left_out_as_it_comes_and_at_its_end():
    """A server may mind no limit; an event that no client can read would keep all later ones from it."""
    with pytest.raises(TooLong) as streamed:
        read(*[delta("x" * (ANSWER_MAX // 2))] * 3)
    with pytest.raises(TooLong) as whole:
        read(done(message("x" * (ANSWER_MAX + 1))), ended()).answer()
    with pytest.raises(TooLong):
        read(*[done(a_call(arguments="x" * (ANSWER_MAX // 2)), at) for at in range(3)], ended()).answer()

    assert "too large to be kept" in streamed.value.sentence
    assert whole.value.usage == COUNTED
    assert len(read(done(message("x" * ANSWER_MAX)), ended()).answer().text) == ANSWER_MAX


def test_a_refusal_gives_the_models_words_in_one_line():
    parts = [{"type": "refusal", "refusal": "I can't\nhelp with that."}]

    with pytest.raises(Refused) as failure:
        read(done(message("", content=parts)), ended()).answer()

    assert failure.value.sentence == "The model declined to answer: I can't help with that."
    assert failure.value.usage == COUNTED
    assert "help" not in str(failure.value)


def test_a_cancelled_answer_is_asked_for_again():
    with pytest.raises(Unreachable):
        read(ended("cancelled", "cancelled")).answer()


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("server_error", Unreachable),
        ("rate_limit_exceeded", Unreachable),
        ("", Unreachable),
        ("insufficient_quota", QuotaUsedUp),
        ("invalid_prompt", Filtered),
        ("bio_policy", Filtered),
        ("image_parse_error", BadRequest),
        ("something_new", BadRequest),
    ],
)
def test_a_failed_answer_is_judged_by_its_code(code, kind):
    with pytest.raises(kind) as failure:
        read(ended("failed", "failed", error={"code": code, "message": "secret words"})).answer()

    assert "secret" not in failure.value.sentence + str(failure.value)
    assert failure.value.usage == COUNTED


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "server_error", "message": "secret words"},
        {
            "type": "error",
            "error": {"type": "server_error", "code": "server_error", "message": "secret words"},
        },
        {"type": "error", "message": "secret words"},
    ],
)
def test_an_error_event_ends_the_answer_at_once(event):
    with pytest.raises(Unreachable) as failure:
        read(delta("half"), event)

    assert failure.value.trouble is Trouble.SERVER
    assert "secret" not in failure.value.sentence + str(failure.value)


def test_words_in_place_of_a_code_are_not_shown():
    with pytest.raises(ModelFailure) as failure:
        read({"type": "error", "code": "your words: buy milk", "message": ""})

    assert "milk" not in failure.value.sentence + failure.value.code


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"type": "response.new_thing", "x": 1},
        {"type": "response.output_item.done", "item": None},
        {"type": "response.output_item.done", "item": {"type": "web_search_call"}, "output_index": "0"},
        {"type": "response.output_text.delta"},
        {
            "type": "response.output_item.done",
            "item": {"type": "message", "content": None},
            "output_index": 5,
        },
    ],
)
def test_events_that_are_not_known_or_not_whole_change_nothing(event):
    assert read(event, done(message("hi"), 9), ended()).answer().text == "hi"


@pytest.mark.parametrize(
    "usage", [None, {}, {"input_tokens": None, "output_tokens": "3"}, {"input_tokens": -1}, "x"]
)
def test_usage_that_is_missing_or_odd_counts_as_nothing(usage):
    assert read(ended(usage=usage)).answer().usage == TokenUsage()


def test_a_lone_surrogate_in_an_answer_is_replaced_at_the_door():
    answer = read(done(message("a\ud83c")), done(a_call(arguments='{"text": "\udf78"}'), 1), ended()).answer()

    assert answer.text == "a\ufffd"
    assert answer.calls[0].arguments == '{"text": "\ufffd"}'
