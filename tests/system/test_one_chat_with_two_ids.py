"""The whole way of a chat that WhatsApp names by LID first and by number later, over both services.

Both are what runs, in the test's own loop, with WhatsApp played and the model scripted. A restart ends both
and begins them on what is on disk. The gateway's time moves as the test says.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from onechat.agent.v1 import agent_service_pb2, delivery_pb2

from tests.fakes.agent_house import NOWHERE, House, living
from tests.fakes.agent_talk import make_child, says
from tests.fakes.clock import ManualClock
from tests.fakes.memory_server import MemoryServer, remembering
from tests.fakes.proposal_talk import command
from tests.fakes.scripted_model import ScriptedModel, call
from tests.fakes.whatsapp_account import WhatsAppAccount
from tests.fakes.whatsapp_desk import account_of_ann
from tests.fakes.whatsapp_house import House as Gateway
from tests.fakes.whatsapp_house import house_at
from tests.fakes.whatsapp_scripts import ANN, ANN_LID, BOB, BOB_LID, NOON, heard

LID, NUMBER = f"whatsapp:{BOB_LID}", f"whatsapp:{BOB}"
WITHIN_S = 30.0


@dataclass(kw_only=True)
class Place:
    """What outlives the processes."""

    folder: Path
    memory: MemoryServer
    model: ScriptedModel
    account: WhatsAppAccount
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOON))
    rng: random.Random = field(default_factory=lambda: random.Random(5))

    @asynccontextmanager
    async def both(self) -> AsyncIterator[tuple[House, Gateway]]:
        """The agent service and the gateway, until the end of the block."""
        async with (
            living(self.folder / "agent", self.memory, self.model) as house,
            self.gateway(house.loopback.address) as gateway,
        ):
            yield house, gateway

    @asynccontextmanager
    async def gateway(self, agent_address: str) -> AsyncIterator[Gateway]:
        """The gateway with an agent service there."""
        place = self.folder / "whatsapp"
        async with house_at(place, agent_address, self.account, self.clock, self.rng) as gateway:
            yield gateway


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    """Bob's number is not known to the session."""
    account = account_of_ann()
    account.lids = {ANN: ANN_LID}
    async with AsyncExitStack() as stack:
        memory = await stack.enter_async_context(remembering(tmp_path / "memory"))
        model = await stack.enter_async_context(ScriptedModel.serving())
        yield Place(folder=tmp_path, memory=memory, model=model, account=account)


async def test_a_chat_routed_by_its_lid_stays_its_childs_when_its_number_is_known_over_restarts(
    place: Place,
) -> None:
    async with place.both() as (house, gateway):
        await make_child(house, "House")
        await comes(place, house, gateway, "for the root", "", chat=BOB_LID)
        says(house, "", call("route", source=LID, agent="House"), "House has it")
        await house.say("give that chat to House")
        await comes(place, house, gateway, "by lid", "House", chat=BOB_LID)
        says(house, "House", "")  # to what comes next, which it gets as soon as it is there again

    place.account.online = False
    place.account.come(heard("with its number", chat=BOB_LID, sender_alt=BOB, at_s=90))
    async with place.gateway(NOWHERE) as gateway:  # batched, and not handed over
        await gateway.after(60)
        assert gateway.gateway.outbox.waiting() == 1

    async with place.both() as (house, gateway):
        await until_said(house, gateway, "with its number", "House")
        await comes(place, house, gateway, "by number", "House", chat=BOB)
        routes = await house.stub().ListRoutes(agent_service_pb2.ListRoutesRequest(), timeout=WITHIN_S)
        assert [(one.source, one.agent) for one in routes.routes] == [(NUMBER, "House")]
        assert f"{BOB} goes to House" in await command(house, "/whatsapp status")

    async with place.both() as (house, gateway):
        await comes(place, house, gateway, "by number again", "House", chat=BOB)
        says(house, "", call("unroute", source=LID), "it is yours")
        await house.say("take it back")
        await comes(place, house, gateway, "for the root again", "", chat=BOB_LID)

        told = f"echo: {LID} is {NUMBER} now: it comes to you from now on, and no longer to House."
        assert told in await house.lines()
        assert await said(house, "House") == ["by lid", "with its number", "by number", "by number again"]
        assert await said(house, "") == ["for the root", "for the root again"]
        assert gateway.gateway.outbox.waiting() == 0


async def comes(place: Place, house: House, gateway: Gateway, text: str, to: str, *, chat: str) -> None:
    """Bob writes, and the agent `to`, empty for the root, has taken it in a turn."""
    says(house, to, "")
    await gateway.settled()
    seconds = (place.clock.now() - NOON).total_seconds()
    place.account.come(heard(text, chat=chat, at_s=seconds))
    await until_said(house, gateway, text, to)


async def until_said(house: House, gateway: Gateway, text: str, to: str) -> None:
    """Return once the agent `to` has `text` in its log, and nothing has a turn before it or under way."""
    async with asyncio.timeout(WITHIN_S):
        while text not in await said(house, to) or not await all_done(house):
            await gateway.after(5)


async def all_done(house: House) -> bool:
    """Whether all that the agent service was handed over is done."""
    request = agent_service_pb2.ListDeliveriesRequest()
    found = await house.stub().ListDeliveries(request, timeout=WITHIN_S)
    return all(one.state == delivery_pb2.DELIVERY_STATE_DONE for one in found.deliveries)


async def said(house: House, name: str) -> list[str]:
    """What came from WhatsApp, as the agent's log has it, oldest first."""
    batches = [line for line in await house.lines(name) if line.startswith("work: [WhatsApp]")]
    return [line.rpartition('": ')[2] for batch in batches for line in batch.splitlines() if '": ' in line]
