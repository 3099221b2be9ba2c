"""All five frozen at once in the middle of a turn: the copies together are one state that can be started."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from onechat.ops.v1 import ops_service_pb2, ops_service_pb2_grpc

from tests.fakes.five_services import SERVICES, FiveServices, Forks, five_services
from tests.fakes.five_services_chat import CALL_S, Chat, chatting
from tests.fakes.five_services_model import ModelProcess, model_process


class Bench:
    """All five, and an operator who makes a backup of them."""

    def __init__(self, services: FiveServices, chat: Chat, model: ModelProcess) -> None:
        self.services = services
        self.chat = chat
        self.model = model

    def _ops(self, service: str) -> Any:
        return ops_service_pb2_grpc.SnapshotServiceStub(self.services.channel("operator", service))

    async def freeze(self) -> dict[str, str]:
        """The snapshot of each service."""
        request = ops_service_pb2.FreezeRequest(request_id="backup")
        frozen = await asyncio.gather(*(self._ops(one).Freeze(request, timeout=CALL_S) for one in SERVICES))
        return {service: one.snapshot_id for service, one in zip(SERVICES, frozen, strict=True)}

    async def thaw(self, snapshots: dict[str, str]) -> None:
        """Let every writer go on."""
        for service, snapshot_id in snapshots.items():
            await self._ops(service).Thaw(
                ops_service_pb2.ThawRequest(snapshot_id=snapshot_id), timeout=CALL_S
            )

    async def copy(self, service: str, snapshot_id: str) -> bytes:
        """The store of a service as it was when it was frozen."""
        request = ops_service_pb2.ReadSnapshotRequest(snapshot_id=snapshot_id)
        responses = self._ops(service).ReadSnapshot(request, timeout=60)
        return b"".join([one.chunk.content async for one in responses])


@pytest.fixture
async def bench(forks: Forks, tmp_path: Path) -> AsyncIterator[Bench]:
    async with (
        model_process(forks, tmp_path) as model,
        five_services(forks, tmp_path / "first", OPENAI_BASE_URL=model.base_url) as services,
        chatting(services) as chat,
    ):
        await services.start(*SERVICES)
        await chat.ask("hello", key="hello")
        yield Bench(services, chat, model)


async def test_services_started_on_the_copies_go_on_as_after_a_kill_at_the_freeze(
    bench: Bench, forks: Forks, tmp_path: Path
) -> None:
    await bench.model.script({"gate": "held", "purpose": "turn", "times": 0})
    await bench.chat.say("before the freeze", key="before")
    await bench.model.reached("held")

    snapshots = await bench.freeze()
    meanwhile = asyncio.ensure_future(bench.chat.say("while frozen", key="meanwhile"))
    await bench.chat.deliveries()
    waited = not meanwhile.done()
    await bench.thaw(snapshots)
    await meanwhile
    copying = asyncio.gather(*(bench.copy(service, snapshot) for service, snapshot in snapshots.items()))
    await bench.model.open("held")
    await bench.chat.until(lambda: bench.chat.end_of("meanwhile") is not None)
    copies = dict(zip(snapshots, await copying, strict=True))

    beside = tmp_path / "second"
    shutil.copytree(bench.services.folder, beside, ignore=shutil.ignore_patterns("store.db*", "*.log"))
    for service, copy in copies.items():
        (beside / "data" / service / "store.db").write_bytes(copy)
    async with (
        five_services(forks, beside, OPENAI_BASE_URL=bench.model.base_url) as restored,
        chatting(restored) as chat,
    ):
        await restored.start(*SERVICES)
        await chat.all_done({"hello", "before"})
        texts = [message.text for message in await chat.log()]
        keys = [one.key for one in await chat.deliveries()]

    assert waited
    assert keys == ["hello", "before"]
    assert texts.count("before the freeze") == 1
    assert "while frozen" not in texts
    assert "while frozen" in [message.text for message in await bench.chat.log()]
