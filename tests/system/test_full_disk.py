"""A disk that fills while services are at work: it is said, nothing is half-written, and space mends it.

To the process, a limit on the size of its files is a full disk; it is lifted while the process runs.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from onechat.agent.v1 import agent_service_pb2, delivery_pb2
from onechat.ops.v1 import ops_service_pb2, ops_service_pb2_grpc
from onechat_runtime.errors import RemoteError

from tests.fakes.five_services import LOOK_S, FiveServices, Forks, five_services
from tests.fakes.five_services_chat import CALL_S, Chat, chatting
from tests.fakes.five_services_model import ModelProcess, model_process


class Bench:
    """An agent and a memory that have talked before."""

    def __init__(self, services: FiveServices, chat: Chat, model: ModelProcess) -> None:
        self.services = services
        self.chat = chat
        self.model = model

    async def troubles(self, service: str) -> list[str]:
        """What `service` says is wrong with it."""
        stub: Any = ops_service_pb2_grpc.SnapshotServiceStub(self.services.channel("operator", service))
        info = await stub.GetInfo(ops_service_pb2.GetInfoRequest(), timeout=CALL_S)
        return [trouble.sentence for trouble in info.troubles]

    async def is_full(self, service: str) -> None:
        """Return once it says that its disk is full."""
        async with asyncio.timeout(30):
            while not any("free some space" in trouble for trouble in await self.troubles(service)):
                await asyncio.sleep(LOOK_S)


@pytest.fixture
async def bench(forks: Forks, tmp_path: Path) -> AsyncIterator[Bench]:
    async with (
        model_process(forks, tmp_path) as model,
        five_services(forks, tmp_path, OPENAI_BASE_URL=model.base_url) as services,
        chatting(services) as chat,
    ):
        await services.start("memory", "agent")
        await chat.ask("hello", key="first")
        yield Bench(services, chat, model)


async def test_a_memory_without_space_is_waited_for_and_the_turn_goes_on(bench: Bench) -> None:
    bench.services.fill_disk("memory")
    asking = asyncio.ensure_future(bench.chat.ask("is there room?", key="second"))
    await bench.is_full("memory")
    while_full = await bench.chat.log()

    bench.services.free_disk("memory")

    assert "is there room?" in await asking
    log = [message.text for message in await bench.chat.log()]
    assert len(while_full) == 2
    assert log[2:] == ["is there room?", *bench.chat.replies_since(0)[1:]]
    assert await bench.troubles("memory") == []


async def test_an_agent_without_space_refuses_what_comes_and_takes_it_later(bench: Bench) -> None:
    """What was refused is not stored, so its sender sends it again with the same key."""
    new = delivery_pb2.NewDelivery(key="second", text="is there room?", backed=True)
    request = agent_service_pb2.DeliverRequest(deliveries=[new])
    bench.services.fill_disk("agent")

    with pytest.raises(RemoteError) as refused:
        await bench.chat.agent().Deliver(request, timeout=CALL_S)

    assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "STORE_FULL")
    await bench.is_full("agent")
    assert [one.key for one in await bench.chat.deliveries()] == ["first"]
    bench.services.free_disk("agent")
    assert "is there room?" in await bench.chat.ask("is there room?", key="second")


async def test_a_turn_whose_agent_has_no_space_waits_and_ends_once(bench: Bench) -> None:
    await bench.model.script({"gate": "held", "purpose": "turn"})
    asking = asyncio.ensure_future(bench.chat.ask("run `echo ran >> ran.txt`", key="second"))
    await bench.model.reached("held")
    bench.services.fill_disk("agent")
    await bench.model.open("held")
    await bench.is_full("agent")

    bench.services.free_disk("agent")

    assert "shell says" in await asking
    assert (bench.services.folder / "workspace" / "ran.txt").read_text() == "ran\n"
    assert len(bench.chat.replies_since(0)) == 2
    assert await bench.troubles("agent") == []
