"""The whole gateway over the fake wire, between an account that is played and the agent service's double.

A restart is another `house_at` on the same folder and account. Time moves as the clock's owner says.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1
from onechat_runtime.channels import open_channel
from onechat_runtime.health import HealthBoard
from onechat_runtime.store import Store, migrations_in
from onechat_whatsapp.adapters.agent import Agent
from onechat_whatsapp.domain.records import OutgoingMessage
from onechat_whatsapp.gateway import Gateway, opened_gateway
from onechat_whatsapp.sending import Answer

from tests.fakes.clock import ManualClock
from tests.fakes.loopback import TOKENS
from tests.fakes.stores import store_at
from tests.fakes.whatsapp_account import WhatsAppAccount
from tests.fakes.whatsapp_link_bench import Call
from tests.fakes.whatsapp_wire import FakeWire

ROME = ZoneInfo("Europe/Rome")


@dataclass(kw_only=True)
class House:
    """A gateway at work."""

    gateway: Gateway
    wire: FakeWire
    store: Store
    clock: ManualClock

    async def send(self, request_id: str, message: OutgoingMessage) -> Answer:
        """As the agent's tool does."""
        return await self.gateway.chats.sending.send(request_id, message)

    async def pair(self, phone: str) -> None:
        """As /whatsapp pair does."""
        await self.gateway.servicer.Pair(v1.PairRequest(phone=phone), Call())

    async def unlink(self) -> None:
        """As /whatsapp unlink does."""
        await self.gateway.servicer.Unlink(v1.UnlinkRequest(), None)

    async def settled(self) -> None:
        """Return once all that has come is read."""
        for _ in range(3):
            await self.wire.idle()
            for _ in range(20):
                await asyncio.sleep(0)
            await self.store.write(lambda db: None)

    async def after(self, seconds: float, *, step_s: float = 30.0) -> None:
        """Let `seconds` pass, in steps of which each is dealt with."""
        while seconds > 0:
            await self.settled()
            self.clock.advance(min(seconds, step_s))
            seconds -= step_s
        await self.settled()


@asynccontextmanager
async def house_at(
    folder: Path, agent_address: str, account: WhatsAppAccount, clock: ManualClock, rng: random.Random
) -> AsyncIterator[House]:
    """The gateway on what is kept in `folder`, until the end of the block; then it ends as by SIGTERM.

    `rng` must not begin anew after a restart, for what it makes are ids.
    """
    wire, board = FakeWire(account), HealthBoard(clock)
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(
            store_at(
                folder / "store.db",
                component="whatsapp",
                migrations=migrations_in("onechat_whatsapp.migrations"),
                clock=clock,
            )
        )
        channel = await stack.enter_async_context(
            open_channel(agent_address, token=TOKENS["whatsapp"], name="agent")
        )
        gateway = await opened_gateway(
            wire,
            Agent(channel),
            store,
            board=board,
            clock=clock,
            zone=ROME,
            rng=rng,
        )
        async with asyncio.TaskGroup() as tasks:
            jobs = [tasks.create_task(job()) for job in gateway.background]
            yield House(gateway=gateway, wire=wire, store=store, clock=clock)
            for job in jobs:
                job.cancel()
