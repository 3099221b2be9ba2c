"""The real client of the openai package against the server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import openai
import pytest
from onechat_demo.answers import Answer, call
from onechat_demo.model import Purpose
from onechat_demo.records import Outcome
from onechat_demo.scripted import ScriptedModel
from openai import AsyncOpenAI

Turn = Callable[..., dict[str, Any]]


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel.serving() as served:
        yield served


@pytest.fixture
async def client(model: ScriptedModel) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=model.base_url, api_key="none", max_retries=0) as made:
        yield made


async def streamed(client: AsyncOpenAI, body: dict[str, Any]) -> list[Any]:
    stream = await client.responses.create(**body, stream=True)
    return [event async for event in stream]


def as_input(response: Any) -> list[dict[str, Any]]:
    """The items of an answer as a client sends them back."""
    return [item.model_dump(exclude_none=True, exclude={"status"}) for item in response.output]


async def test_a_streamed_reply_comes_in_pieces_and_ends_with_usage(client: AsyncOpenAI, turn: Turn) -> None:
    events = await streamed(client, turn("hello"))

    pieces = [event.delta for event in events if event.type == "response.output_text.delta"]
    final = events[-1].response
    assert len(pieces) > 1
    assert "".join(pieces) == final.output_text
    assert final.status == "completed"
    assert final.usage.total_tokens == final.usage.input_tokens + final.usage.output_tokens > 0


async def test_two_parallel_calls_and_their_outputs_make_a_turn(client: AsyncOpenAI, turn: Turn) -> None:
    first = (await streamed(client, turn("run ls and run pwd")))[-1].response
    outputs = [
        {"type": "function_call_output", "call_id": item.call_id, "output": f"out of {item.arguments}"}
        for item in first.output
    ]

    second = (await streamed(client, turn("run ls and run pwd", *as_input(first), *outputs)))[-1].response

    assert [item.name for item in first.output] == ["shell", "shell"]
    assert 'out of {"command": "ls"}' in second.output_text
    assert 'out of {"command": "pwd"}' in second.output_text
    assert second.usage.input_tokens_details.cached_tokens >= first.usage.input_tokens - 2


async def test_a_whole_response_says_the_same_as_a_stream(client: AsyncOpenAI, turn: Turn) -> None:
    whole = await client.responses.create(**turn("hello"))

    assert whole.output_text == (await streamed(client, turn("hello")))[-1].response.output_text


async def test_thoughts_can_be_sent_back(client: AsyncOpenAI, model: ScriptedModel, turn: Turn) -> None:
    model.say(Answer(text="I look.", calls=(call("shell", command="ls"),), reasoning="which folder?"))
    include = ["reasoning.encrypted_content"]
    events = await streamed(client, turn("run ls", include=include))
    done = [event.item for event in events if event.type == "response.output_item.done"]
    output = {"type": "function_call_output", "call_id": done[-1].call_id, "output": "a.txt"}

    reply = await client.responses.create(
        **turn("run ls", *as_input(events[-1].response), output, include=include)
    )

    assert done[0].encrypted_content.startswith("demo:")
    assert "a.txt" in reply.output_text
    assert model.refusals() == []


async def test_pictures_are_taken_from_users_and_tools(
    client: AsyncOpenAI, model: ScriptedModel, turn: Turn, ran: Callable[..., list[dict[str, Any]]]
) -> None:
    picture = {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,iVBORw0KGgo="}
    done = ran("zoom", '{"id": 3, "n": 1}', [{"type": "input_text", "text": "a boat"}, picture])

    reply = await client.responses.create(**turn({"role": "user", "content": [picture]}, *done))

    assert "zoom says: a boat (and 1 picture)" in reply.output_text
    assert "I got 1 picture" in reply.output_text


async def test_a_compaction_gets_its_lines(
    client: AsyncOpenAI, model: ScriptedModel, compaction: Callable[..., dict[str, Any]]
) -> None:
    reply = await client.responses.create(**compaction("user: " + "words " * 200))

    assert len(reply.output_text.split("\n")) == 3
    assert model.requests()[0].purpose is Purpose.COMPACTION


async def test_a_broken_rule_reaches_the_client_as_a_bad_request(
    client: AsyncOpenAI, model: ScriptedModel, turn: Turn
) -> None:
    """A client's fault must show in its tests, as it would at the real API."""
    with pytest.raises(openai.BadRequestError) as caught:
        await client.responses.create(**turn("hello"), extra_body={"max_tokens": 5})

    assert (caught.value.param, caught.value.code) == ("max_tokens", "unknown_parameter")
    assert model.refusals() == ["Unknown parameter: 'max_tokens'."]
    assert model.requests()[0].outcome is Outcome.REFUSED


async def test_models_are_listed(turn: Turn) -> None:
    async with (
        ScriptedModel.serving(models=["b", "a"]) as model,
        AsyncOpenAI(base_url=model.base_url, api_key="none", max_retries=0) as client,
    ):
        listed = [one.id async for one in client.models.list()]

        with pytest.raises(openai.BadRequestError, match="does not exist"):
            await client.responses.create(**turn("hello"))
        with pytest.raises(openai.NotFoundError):
            await client.models.retrieve("demo")
        assert listed == ["a", "b"]


async def test_requests_are_kept_as_they_came(client: AsyncOpenAI, model: ScriptedModel, turn: Turn) -> None:
    waiting = asyncio.create_task(model.wait_for(1))
    await client.responses.create(**turn("hello"))

    record = (await asyncio.wait_for(waiting, 10))[0]

    assert record.body is not None
    assert record.body["input"][-1]["content"] == "user: hello"
    assert b"user: hello" in record.raw
    assert record.headers["authorization"] == "Bearer none"
