"""An agent's log as its start finds it in the memory: made, taken up, or refused."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from onechat.memory.v1 import log_pb2
from onechat_agent.adapters import agent_folder
from onechat_agent.adapters.memory import Lease, MemoryClient
from onechat_agent.domain.chat import AgentId
from onechat_runtime.errors import StartRefused

from tests.fakes.agent_house import living, settings_in
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import ScriptedModel

ROOT = AgentId("0123abcd")


@pytest.fixture
def client(memory: MemoryServer) -> MemoryClient:
    return MemoryClient(memory.loopback.channel("agent"), "Europe/Rome")


async def test_a_log_that_is_not_there_is_made_live_and_with_a_tree(
    client: MemoryClient, memory: MemoryServer
) -> None:
    await client.create_log(ROOT, "One")

    made = (await memory.stats(ROOT)).log
    assert (made.label, made.shape, made.state) == ("One", log_pb2.LOG_SHAPE_TREE, log_pb2.LOG_STATE_LIVE)


@pytest.mark.parametrize(
    "fields",
    [
        {"label": "One"},
        {"label": "an earlier name"},
        {"label": "One", "chat_view": {"high_bytes": 20_000, "low_bytes": 9_000}},
    ],
    ids=["same", "label", "limits"],
)
async def test_a_live_log_with_a_tree_is_taken_up_as_it_is(
    client: MemoryClient, memory: MemoryServer, fields: dict[str, Any]
) -> None:
    await memory.create(ROOT, **fields)
    await memory.append("hello", log=ROOT)
    before = await memory.stats(ROOT)

    await client.create_log(ROOT, "One")

    assert await memory.stats(ROOT) == before


@pytest.mark.parametrize("fields", [{"shape": "LOG_SHAPE_FLAT"}, {"state": "LOG_STATE_STAGED"}])
async def test_a_log_of_another_kind_is_refused(
    client: MemoryClient, memory: MemoryServer, fields: dict[str, Any]
) -> None:
    """A turn could neither read its view nor remember anything, and would try for ever."""
    await memory.create(ROOT, label="One", **fields)

    with pytest.raises(StartRefused, match=r"log 0123abcd is not the memory of One.*Restore.*\.$"):
        await client.create_log(ROOT, "One")


async def test_a_log_that_was_set_aside_is_refused(client: MemoryClient, memory: MemoryServer) -> None:
    await memory.create("live")
    await memory.create("staged", state="LOG_STATE_STAGED")
    await memory.swap(log="live", kept=ROOT)

    with pytest.raises(StartRefused, match="set aside"):
        await client.create_log(ROOT, "live")


class Asked(MemoryClient):
    """A way to the memory that says when the log was asked for."""

    def __init__(self, inner: MemoryClient) -> None:
        self._inner = inner
        self.answered = asyncio.Event()

    async def create_log(self, log: AgentId, label: str) -> None:
        try:
            await self._inner.create_log(log, label)
        finally:
            self.answered.set()

    async def lease(self, holder: str, pieces: int, wait_s: float) -> Lease:
        return await self._inner.lease(holder, pieces, wait_s)


async def test_a_refused_log_ends_the_service(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """What ends a task of the service ends it: with the line alone, since it is a refused start."""
    ways: list[Asked] = []
    agents = settings_in(tmp_path).agents_folder
    agent_folder.make_root(agents)
    agent_folder.make(agents, "One", ROOT)
    await memory.create(ROOT, shape="LOG_SHAPE_FLAT")

    def through(client: MemoryClient) -> MemoryClient:
        ways.append(Asked(client))
        return ways[-1]

    with pytest.raises(StartRefused, match="log 0123abcd is not the memory of One"):
        async with living(tmp_path, memory, model, through=through):
            await ways[0].answered.wait()
