"""The client against a Responses server that others wrote, so that both sides cannot share one mistake."""

import json
from collections.abc import AsyncIterator, Iterator

import pytest
from llmock.scenarios import Fail, Reply, StreamFault, ToolCall, ToolFault
from llmock.testing import LLMockServer
from onechat_agent.model.call import ModelClient
from onechat_agent.model.endpoint import Endpoint
from onechat_agent.model.failures import BadKey, Trouble, Unreachable
from onechat_agent.model.items import CallItem, ModelRequest, OutputItem, UserItem
from onechat_runtime.settings import Secret

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}
OPENING = (
    UserItem(text="<chat>\n0+1|user: hi\n</chat>"),
    UserItem(text="<state>\nnow: today\n</state>"),
    UserItem(text="user: compare a and b"),
)


def ignore(_offset: int, _text: str) -> None:
    """For tests that don't look at the text as it comes."""


def a_request(*more: object) -> ModelRequest:
    return ModelRequest(
        system="You are One.",
        tools=(
            {"type": "function", "name": "read", "description": "", "parameters": SCHEMA, "strict": True},
        ),
        items=(*OPENING, *more),
        model="some-model",
        effort="medium",
        cache_key="agent-1",
        max_output_tokens=1000,
    )


@pytest.fixture(scope="module")
def running() -> Iterator[LLMockServer]:
    with LLMockServer() as served:
        yield served


@pytest.fixture
def server(running) -> LLMockServer:
    running.state.reset()
    return running


@pytest.fixture
async def client(server) -> AsyncIterator[ModelClient]:
    endpoint = Endpoint.of(url=server.base_url("openai"), api_key=Secret("sk-test"))
    made = ModelClient(endpoint, read_timeout_s=0.5, call_timeout_s=20)
    await made.warm_up()
    yield made
    await made.close()


async def test_a_turn_with_two_calls_side_by_side(server, client):
    two = (ToolCall("read", {"path": "a"}), ToolCall("read", {"path": "b"}))
    server.state.scenarios.add(Reply(tool_calls=two), Reply(text="They are the same."))
    heard: list[str] = []

    asked = await client.respond(a_request(), lambda _offset, piece: heard.append(piece))
    results = [OutputItem(call_id=one.call_id, text="hello") for one in asked.calls]
    answer = await client.respond(
        a_request(*asked.items, *results), lambda _offset, piece: heard.append(piece)
    )

    assert [json.loads(one.arguments) for one in asked.calls] == [{"path": "a"}, {"path": "b"}]
    assert len({one.call_id for one in asked.calls}) == 2
    assert answer.text == "".join(heard) == "They are the same."
    assert answer.usage.input > 0


async def test_a_busy_server_says_how_long_to_wait(server, client):
    server.state.scenarios.add(Fail(429, retry_after=7))

    with pytest.raises(Unreachable) as failure:
        await client.respond(a_request(), ignore)

    assert failure.value.trouble is Trouble.BUSY
    assert failure.value.retry_after_s == 7


async def test_a_refused_key_is_named(server, client):
    server.state.scenarios.add(Fail(401))

    with pytest.raises(BadKey):
        await client.respond(a_request(), ignore)


@pytest.mark.parametrize("kind", ["disconnect", "truncate", "malformed", "stall"])
@pytest.mark.parametrize("after_chunks", [0, 3])
async def test_a_broken_stream_is_never_taken_for_an_answer(server, client, kind, after_chunks):
    server.state.scenarios.add(
        Reply(text="a long answer " * 20), StreamFault(kind, after_chunks=after_chunks, stall_seconds=2)
    )

    with pytest.raises(Unreachable):
        await client.respond(a_request(), ignore)

    assert (await client.respond(a_request(OPENING[2]), ignore)).items


@pytest.mark.parametrize("kind", ["malformed_arguments", "unknown_tool"])
async def test_a_broken_call_is_handed_on_as_it_is(server, client, kind):
    """What the tool answers to it is the toolbox's affair."""
    server.state.scenarios.add(ToolFault(kind))

    answer = await client.respond(a_request(), ignore)

    assert isinstance(answer.items[-1], CallItem)
    assert answer.calls[0].arguments or answer.calls[0].name != "read"


async def test_a_call_that_is_made_again_is_the_same_call(server, client):
    server.state.scenarios.add(Fail(500), StreamFault("truncate", after_chunks=2))

    for _ in range(2):
        with pytest.raises(Unreachable):
            await client.respond(a_request(), ignore)
    await client.respond(a_request(), ignore)

    attempts = server.state.journal.records()
    assert len(attempts) == 3
    assert len({attempt.fingerprint for attempt in attempts}) == 1
