"""The whole gateway, as the service wires it, between a played WhatsApp account and an agent on loopback."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from onechat.agent.v1.delivery_pb2 import NewDelivery
from onechat.whatsapp.v1 import whatsapp_service_pb2_grpc
from onechat_runtime.channels import open_channel
from onechat_runtime.health import HealthBoard
from onechat_runtime.steps import Reached, on_we_go
from onechat_runtime.store import Store, migrations_in
from onechat_whatsapp.adapters.agent import Agent
from onechat_whatsapp.gateway import Gateway, opened_gateway
from onechat_whatsapp.servicer import served

from tests.fakes.agent_servicer import AgentServicer
from tests.fakes.clock import ManualClock
from tests.fakes.loopback import TOKENS, serving
from tests.fakes.stores import store_at
from tests.fakes.whatsapp_account import WhatsAppAccount
from tests.fakes.whatsapp_scripts import NOON
from tests.fakes.whatsapp_wire import FakeWire

ROME = ZoneInfo("Europe/Rome")
WITHIN_S = 30.0


@dataclass
class Running:
    """A gateway at work."""

    account: WhatsAppAccount
    agent: AgentServicer
    gateway: Gateway
    store: Store
    board: HealthBoard
    wire: FakeWire
    stub: Any  #: of the gateway, with the agent's token
    clock: ManualClock

    async def until(self, reached: Callable[[], bool]) -> None:
        """Return once it is reached; TimeoutError after half a minute."""
        async with asyncio.timeout(WITHIN_S):
            while not reached():
                await asyncio.sleep(0.002)

    async def turned_until(self, reached: Callable[[], bool], *, step_s: float = 5.0) -> None:
        """Let time pass in steps until it is reached."""
        async with asyncio.timeout(WITHIN_S):
            while not reached():
                self.clock.advance(step_s)
                for _ in range(5):
                    await asyncio.sleep(0.001)

    @property
    def deliveries(self) -> list[NewDelivery]:
        """What the agent was given, in order."""
        return list(self.agent.deliveries.values())


class GatewayBench:
    """Starts gateways on one folder, one account and one agent, one after the other."""

    def __init__(
        self, folder: Path, account: WhatsAppAccount, agent: AgentServicer, agent_address: str
    ) -> None:
        self.folder = folder
        self.account = account
        self.agent = agent
        self.agent_address = agent_address
        self.clock = ManualClock(NOON)
        self._runs = count(1)

    @asynccontextmanager
    async def running(self, reached: Reached = on_we_go) -> AsyncIterator[Running]:
        """A gateway that runs until the end of the block, then ends as by SIGTERM."""
        board, wire = HealthBoard(self.clock), FakeWire(self.account)
        migrations = migrations_in("onechat_whatsapp.migrations")
        async with AsyncExitStack() as stack:
            store = await stack.enter_async_context(
                store_at(
                    self.folder / "store.db", component="whatsapp", migrations=migrations, clock=self.clock
                )
            )
            channel = await stack.enter_async_context(
                open_channel(self.agent_address, token=TOKENS["whatsapp"], name="agent", board=board)
            )
            gateway = await opened_gateway(
                wire,
                Agent(channel),
                store,
                board=board,
                clock=self.clock,
                zone=ROME,
                rng=random.Random(next(self._runs)),
                reached=reached,
            )
            loopback = await stack.enter_async_context(serving(served(gateway.servicer), board=board))
            jobs = [asyncio.ensure_future(job()) for job in gateway.background]
            try:
                yield Running(
                    account=self.account,
                    agent=self.agent,
                    gateway=gateway,
                    store=store,
                    board=board,
                    wire=wire,
                    stub=whatsapp_service_pb2_grpc.WhatsAppServiceStub(loopback.channel("agent")),
                    clock=self.clock,
                )
            finally:
                for job in jobs:
                    job.cancel()
                for job in jobs:
                    with suppress(asyncio.CancelledError):
                        await job
