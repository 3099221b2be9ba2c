"""The real `openai` client against a server that does what servers do wrong."""

import json
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import psutil
import pytest
from onechat_agent.model.call import ModelClient
from onechat_agent.model.failures import (
    BadKey,
    BadRequest,
    Filtered,
    QuotaUsedUp,
    Refused,
    TooLong,
    Trouble,
    UnknownModel,
    Unreachable,
)
from onechat_agent.model.items import CallItem, OutputItem, ReasoningItem, ReplyItem, UserItem

from tests.fakes.model_requests import KEY, REQUEST, after, endpoint_of, ignore
from tests.fakes.scripted_model import (
    Answer,
    Break,
    CutReason,
    Script,
    ScriptedModel,
    StreamFault,
    bad_request,
    call,
    quota_used_up,
    rate_limited,
    server_error,
    unknown_model,
    wrong_key,
)


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel.serving() as served:
        yield served
        assert served.refusals() == []


@pytest.fixture
async def client(model) -> AsyncIterator[ModelClient]:
    made = ModelClient(endpoint_of(model), read_timeout_s=5, call_timeout_s=20)
    await made.warm_up()
    yield made
    await made.close()


async def test_a_turn_with_thoughts_and_two_calls_side_by_side(model, client):
    model.say(
        Answer(text="Let me look.", reasoning="hm", calls=(call("date", id=1), call("zoom", id=2))),
        "It is Monday.",
    )

    asked = await client.respond(REQUEST, ignore)
    results = [OutputItem(call_id=one.call_id, text="done") for one in asked.calls]
    answer = await client.respond(after(REQUEST, *asked.items, *results), ignore)

    assert [type(item) for item in asked.items] == [ReasoningItem, ReplyItem, CallItem, CallItem]
    assert [json.loads(one.arguments) for one in asked.calls] == [{"id": 1}, {"id": 2}]
    assert answer.text == "It is Monday."
    assert model.requests()[1].body["input"][3]["type"] == "reasoning"


async def test_text_is_passed_on_with_where_it_belongs(model, client):
    text = "A long answer with 🍸 in it. " * 20
    pieces: list[tuple[int, str]] = []
    model.say(text)

    answer = await client.respond(REQUEST, lambda offset, piece: pieces.append((offset, piece)))

    assert answer.text == text
    assert len(pieces) > 1
    assert all(text[offset:].startswith(piece) for offset, piece in pieces)
    assert "".join(piece for _, piece in pieces) == text


async def test_the_start_is_told_once_and_before_the_text(model, client):
    heard: list[str] = []
    model.say(Answer(text="It is Monday.", reasoning="which day?"))

    await client.respond(REQUEST, lambda _offset, _piece: heard.append("text"), lambda: heard.append("start"))

    assert heard.index("start") == 0
    assert heard.count("start") == 1


async def test_usage_counts_what_was_cached(model, client):
    await client.respond(REQUEST, ignore)
    again = (await client.respond(after(REQUEST, UserItem(text="user: and eggs")), ignore)).usage

    assert again.input > again.cached_input > 1000
    assert again.output > 0


async def test_the_same_request_goes_out_as_the_same_bytes(model, client):
    for _ in range(2):
        await client.respond(REQUEST, ignore)

    first, second = model.requests()
    assert first.raw == second.raw


async def test_calls_share_a_connection(model, client):
    """A new one for each call would cost a handshake."""
    used: set[int] = set()
    for _ in range(3):
        await client.respond(REQUEST, ignore)
        used |= open_connections(model)

    assert len(used) == 1


def open_connections(model: ScriptedModel) -> set[int]:
    """The ports of this process from which it is connected to `model`."""
    port = urlsplit(model.base_url).port
    found = psutil.Process().net_connections("tcp")
    return {
        one.laddr.port
        for one in found
        if one.raddr and one.raddr.port == port and one.status == "ESTABLISHED"
    }


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (quota_used_up(), QuotaUsedUp),
        (wrong_key(), BadKey),
        (unknown_model("demo"), UnknownModel),
        (bad_request("Something else.", code="invalid_value"), BadRequest),
        (server_error(500), Unreachable),
        (server_error(503), Unreachable),
        (rate_limited(), Unreachable),
    ],
)
async def test_an_error_status_is_asked_about_once_and_named(model, client, fault, kind):
    """The package's own retries are off: whether to ask again is the turn's to decide."""
    model.fail(fault)

    with pytest.raises(kind) as failure:
        await client.respond(REQUEST, ignore)

    assert len(model.requests()) == 1
    assert "milk" not in failure.value.sentence
    assert KEY not in failure.value.sentence


@pytest.mark.parametrize("asked_s", [7, 300])
async def test_the_wait_that_the_server_asks_for_is_handed_on(model, client, asked_s):
    model.fail(rate_limited(retry_after_s=asked_s))

    with pytest.raises(Unreachable) as failure:
        await client.respond(REQUEST, ignore)

    assert failure.value.trouble is Trouble.BUSY
    assert failure.value.retry_after_s == asked_s


@pytest.mark.parametrize("kind", [Break.CUT, Break.NO_TERMINAL, Break.BROKEN_JSON])
@pytest.mark.parametrize("seen", [0, 3, 5])
async def test_a_stream_that_breaks_anywhere_is_a_broken_answer(model, client, kind, seen):
    model.break_stream(kind, answer=Answer(text="half of an answer " * 10), after=seen)

    with pytest.raises(Unreachable) as failure:
        await client.respond(REQUEST, ignore)

    assert failure.value.trouble in (Trouble.BROKEN, Trouble.NETWORK)
    assert (await client.respond(REQUEST, ignore)).text


async def test_an_error_event_within_a_stream_is_a_failure(model, client):
    model.break_stream(Break.ERROR_EVENT, after=3)

    with pytest.raises(Unreachable) as failure:
        await client.respond(REQUEST, ignore)

    assert failure.value.trouble is Trouble.SERVER


async def test_a_quota_that_ends_within_a_stream_is_told_apart(model, client):
    model.script(Script(stream=StreamFault(kind=Break.ERROR_EVENT, after=2, code="insufficient_quota")))

    with pytest.raises(QuotaUsedUp):
        await client.respond(REQUEST, ignore)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(refusal="I can't help with that."), Refused),
        (Answer(text="half", cut=CutReason.LENGTH), TooLong),
        (Answer(text="half", cut=CutReason.FILTER), Filtered),
    ],
)
async def test_an_answer_that_is_none_is_named(model, client, answer, kind):
    model.say(answer)

    with pytest.raises(kind) as failure:
        await client.respond(REQUEST, ignore)

    assert failure.value.usage.input > 0


@pytest.mark.parametrize(("code", "kind"), [("server_error", Unreachable), ("invalid_prompt", Filtered)])
async def test_an_answer_that_failed_is_judged_by_its_code(model, client, code, kind):
    model.say(Answer(failure=(code, "Something about milk.")))

    with pytest.raises(kind) as failure:
        await client.respond(REQUEST, ignore)

    assert "milk" not in failure.value.sentence
