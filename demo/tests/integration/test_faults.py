"""What the real client sees when a script makes the server go wrong."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from onechat_demo.answers import Answer, Call, CutReason
from onechat_demo.faults import (
    Break,
    HttpFault,
    bad_request,
    quota_used_up,
    rate_limited,
    server_error,
    unknown_model,
    wrong_key,
)
from onechat_demo.model import Purpose
from onechat_demo.records import Outcome
from onechat_demo.scripted import ScriptedModel
from onechat_demo.scripts import FOR_EVER, Gate, Script
from openai import AsyncOpenAI

LONG = Answer(text="a reply of some length, which takes several events to be streamed")


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel.serving() as served:
        yield served


@pytest.fixture
async def client(model: ScriptedModel) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=model.base_url, api_key="none", max_retries=0) as made:
        yield made


async def streamed(client: AsyncOpenAI, text: str = "hello") -> list[Any]:
    stream = await client.responses.create(model="demo", input=text, stream=True)
    return [event async for event in stream]


@pytest.mark.parametrize(
    ("fault", "status", "code", "retry_after"),
    [
        (rate_limited(7), 429, "rate_limit_exceeded", "7"),
        (rate_limited(0.5), 429, "rate_limit_exceeded", "0.5"),
        (quota_used_up(), 429, "insufficient_quota", None),
        (server_error(), 500, None, None),
        (server_error(503), 503, None, None),
        (wrong_key(), 401, "invalid_api_key", None),
        (unknown_model("gpt-9"), 404, "model_not_found", None),
        (bad_request("Unsupported parameter: 'strict'.", param="strict"), 400, None, None),
    ],
)
async def test_an_error_status_has_its_code_and_delay(
    client: AsyncOpenAI,
    model: ScriptedModel,
    fault: HttpFault,
    status: int,
    code: str | None,
    retry_after: str | None,
) -> None:
    model.fail(fault)

    with pytest.raises(openai.APIStatusError) as caught:
        await streamed(client)

    assert (caught.value.status_code, caught.value.code) == (status, code)
    assert caught.value.response.headers.get("retry-after") == retry_after
    assert model.requests()[0].outcome is Outcome.FAULT


async def test_after_its_fault_the_server_answers_again(client: AsyncOpenAI, model: ScriptedModel) -> None:
    model.fail(server_error(), times=2)
    for _ in range(2):
        with pytest.raises(openai.InternalServerError):
            await streamed(client)

    assert (await streamed(client))[-1].type == "response.completed"


async def test_a_fault_for_ever_ends_when_the_scripts_are_cleared(
    client: AsyncOpenAI, model: ScriptedModel
) -> None:
    model.fail(wrong_key(), times=FOR_EVER, purpose=None)
    for _ in range(3):
        with pytest.raises(openai.AuthenticationError):
            await streamed(client)

    model.clear()

    assert (await streamed(client))[-1].type == "response.completed"


async def test_a_cut_stream_is_a_lost_connection(client: AsyncOpenAI, model: ScriptedModel) -> None:
    model.break_stream(Break.CUT, answer=LONG, after=6)
    seen: list[str] = []

    async def read() -> None:
        async for event in await client.responses.create(model="demo", input="hello", stream=True):
            seen.append(event.type)

    with pytest.raises(openai.APIConnectionError):
        await read()

    assert len(seen) == 6
    assert seen[-1] == "response.output_text.delta"


async def test_a_stream_without_terminal_event_just_ends(client: AsyncOpenAI, model: ScriptedModel) -> None:
    model.break_stream(Break.NO_TERMINAL, answer=LONG)

    assert (await streamed(client))[-1].type == "response.output_item.done"


async def test_broken_json_in_a_stream(client: AsyncOpenAI, model: ScriptedModel) -> None:
    model.break_stream(Break.BROKEN_JSON, answer=LONG)

    with pytest.raises(json.JSONDecodeError):
        await streamed(client)


async def test_an_error_event_ends_the_stream(client: AsyncOpenAI, model: ScriptedModel) -> None:
    model.break_stream(Break.ERROR_EVENT, answer=LONG, after=3)

    last = (await streamed(client))[-1]

    assert (last.type, last.code, last.sequence_number) == ("error", "server_error", 3)


async def test_a_stalled_stream_goes_on_when_its_gate_opens(
    client: AsyncOpenAI, model: ScriptedModel
) -> None:
    gate = Gate()
    model.break_stream(Break.STALL, answer=LONG, after=5, stall=gate)
    reading = asyncio.create_task(streamed(client))
    await asyncio.wait_for(gate.reached(), 10)
    was_done = reading.done()

    gate.open()

    assert not was_done
    assert (await asyncio.wait_for(reading, 10))[-1].response.output_text == LONG.text


async def test_a_client_that_leaves_a_stalled_stream_is_seen(
    client: AsyncOpenAI, model: ScriptedModel
) -> None:
    """A stop must close the stream; a test can wait for that here."""
    model.break_stream(Break.STALL, answer=LONG, after=5)
    stream = await client.responses.create(model="demo", input="hello", stream=True)

    await stream.close()

    record = model.requests()[0]
    await asyncio.wait_for(record.ended.wait(), 10)
    assert record.outcome is Outcome.GONE


async def test_a_held_request_waits_for_its_gate(client: AsyncOpenAI, model: ScriptedModel) -> None:
    gate = model.hold(answer=Answer(text="at last"))
    reading = asyncio.create_task(streamed(client))
    await asyncio.wait_for(gate.reached(), 10)
    outcome = model.requests()[0].outcome

    gate.open()

    assert outcome is Outcome.OPEN
    assert (await asyncio.wait_for(reading, 10))[-1].response.output_text == "at last"


async def test_malformed_arguments_come_as_they_are(client: AsyncOpenAI, model: ScriptedModel) -> None:
    model.call(Call(name="read", arguments='{"path": "a'), Call(name="nope", arguments="null"))

    final = (await streamed(client))[-1].response

    assert [(item.name, item.arguments) for item in final.output] == [
        ("read", '{"path": "a'),
        ("nope", "null"),
    ]


async def test_a_refusal_is_a_completed_response(client: AsyncOpenAI, model: ScriptedModel) -> None:
    model.say(Answer(refusal="I cannot help with that."))

    final = (await streamed(client))[-1].response

    assert final.status == "completed"
    assert final.output[0].content[0].refusal == "I cannot help with that."


@pytest.mark.parametrize("cut", list(CutReason))
async def test_an_incomplete_answer_says_why(
    client: AsyncOpenAI, model: ScriptedModel, cut: CutReason
) -> None:
    model.say(Answer(text="half a", cut=cut))

    last = (await streamed(client))[-1]

    assert last.type == "response.incomplete"
    assert (last.response.status, last.response.incomplete_details.reason) == ("incomplete", cut.value)


async def test_a_failed_response_has_its_code(client: AsyncOpenAI, model: ScriptedModel) -> None:
    model.say(Answer(failure=("rate_limit_exceeded", "Slow down.")))

    last = (await streamed(client))[-1]

    assert last.type == "response.failed"
    assert (last.response.status, last.response.error.code) == ("failed", "rate_limit_exceeded")


async def test_faults_can_be_for_compactions_alone(client: AsyncOpenAI, model: ScriptedModel) -> None:
    model.fail(server_error(), purpose=Purpose.COMPACTION)
    model.compress("x" * 600)
    task = "Compaction: message 1, 512 bytes.\n<input>\nuser: x\n</input>"

    turn = await streamed(client)
    with pytest.raises(openai.InternalServerError):
        await streamed(client, task)
    line = (await streamed(client, task))[-1].response.output_text

    assert turn[-1].type == "response.completed"
    assert line == "x" * 600


@pytest.mark.parametrize("kind", [Break.CUT, Break.NO_TERMINAL])
async def test_without_a_stream_a_cut_is_a_lost_connection(
    client: AsyncOpenAI, model: ScriptedModel, kind: Break
) -> None:
    model.break_stream(kind)

    with pytest.raises(openai.APIConnectionError):
        await client.responses.create(model="demo", input="hello")


async def test_a_server_that_stops_leaves_no_stalled_stream_behind(client: AsyncOpenAI) -> None:
    """A test must not hang on a stream that it never let go on."""
    async with ScriptedModel.serving() as model:
        model.script(Script(gate=Gate()))
        held = asyncio.create_task(streamed(client.with_options(base_url=model.base_url)))
        await model.wait_for(1)

    with pytest.raises(openai.APIConnectionError):
        await asyncio.wait_for(held, 10)
