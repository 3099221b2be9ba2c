"""Whole turns against a Responses server that others wrote: each ends in an answer or one plain line."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from llmock.scenarios import Fail, Reply, StreamFault, ToolCall, ToolFault
from llmock.testing import LLMockServer
from onechat.agent.v1 import event_pb2
from onechat_agent.model.call import ModelClient
from onechat_agent.model.endpoint import Endpoint
from onechat_runtime.settings import Secret

from tests.fakes.agent_house import House, living
from tests.fakes.clock import ManualClock
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import ScriptedModel


@pytest.fixture(scope="module")
def running() -> Iterator[LLMockServer]:
    with LLMockServer() as served:
        yield served


@pytest.fixture
async def foreign(
    running: LLMockServer, tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> AsyncIterator[tuple[LLMockServer, House, ManualClock]]:
    """The foreign server, an agent that uses it, and the agent's clock."""
    running.state.reset()
    endpoint = Endpoint.of(url=running.base_url("openai"), api_key=Secret("sk-test"))
    client = ModelClient(endpoint, read_timeout_s=0.5, call_timeout_s=20)
    clock = ManualClock()
    async with living(tmp_path, memory, model, clock=clock, model_client=client) as house:
        yield running, house, clock


async def _ended(house: House, clock: ManualClock, text: str) -> event_pb2.TurnChange:
    """How the turn of this message ends, its pauses shortened by turning the clock."""
    key = await house.deliver(text)
    ended = asyncio.ensure_future(house.ended(key))
    while not ended.done():
        clock.advance(1)
        await asyncio.wait({ended}, timeout=0.02)
    return ended.result()


async def test_two_tool_calls_side_by_side_become_one_answer(
    foreign: tuple[LLMockServer, House, ManualClock],
) -> None:
    server, house, clock = foreign
    (house.seat.workdir / "a").write_text("apples")
    (house.seat.workdir / "b").write_text("pears")
    two = (ToolCall("read", {"path": "a"}), ToolCall("read", {"path": "b"}))
    server.state.scenarios.add(Reply(tool_calls=two), Reply(text="Fruit, both."))

    end = await _ended(house, clock, "compare a and b")

    assert end.state == event_pb2.TurnChange.STATE_ENDED
    lines = await house.lines()
    assert {line for line in lines if line.startswith("echo:")} == {"echo: apples", "echo: pears"}
    assert lines[-1] == "reply: Fruit, both."


@pytest.mark.parametrize(
    "fault",
    [
        Fail(429, retry_after=7),
        Fail(500),
        StreamFault("truncate", after_chunks=2),
        StreamFault("disconnect", after_chunks=1),
        StreamFault("malformed", after_chunks=1),
        StreamFault("stall", after_chunks=1, stall_seconds=2),
    ],
    ids=["429", "500", "truncated", "disconnected", "malformed", "stalled"],
)
async def test_a_fault_that_passes_ends_in_the_answer(
    foreign: tuple[LLMockServer, House, ManualClock], fault: Fail | StreamFault
) -> None:
    server, house, clock = foreign
    server.state.scenarios.add(fault, Reply(text="Here after all."))

    end = await _ended(house, clock, "hello")

    assert end.state == event_pb2.TurnChange.STATE_ENDED
    assert (await house.lines())[0] == "user: hello"
    assert len(house.seen.replies()) == 1


@pytest.mark.parametrize("kind", ["malformed_arguments", "unknown_tool"])
async def test_a_broken_call_is_answered_and_the_turn_goes_on(
    foreign: tuple[LLMockServer, House, ManualClock], kind: str
) -> None:
    server, house, clock = foreign
    server.state.scenarios.add(ToolFault(kind))

    end = await _ended(house, clock, "use a tool")

    assert end.state == event_pb2.TurnChange.STATE_ENDED
    lines = await house.lines()
    assert [line.split(":")[0] for line in lines] == ["user", "tool", "echo", "reply"]
    assert "was not run" in lines[2] or "There is no tool" in lines[2]


async def test_a_refused_key_is_one_plain_line(foreign: tuple[LLMockServer, House, ManualClock]) -> None:
    server, house, clock = foreign
    server.state.scenarios.add(Fail(401))

    end = await _ended(house, clock, "hello")

    assert end.state == event_pb2.TurnChange.STATE_FAILED
    assert house.seen.notices() == [end.reason]
    assert "sk-test" not in end.reason
