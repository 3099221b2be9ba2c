"""The gateway's rooms, as the service wires them, between a Bot API server and an agent on loopback."""

import asyncio
import random
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from onechat_runtime.channels import open_channel
from onechat_runtime.clock import Clock
from onechat_runtime.health import HealthBoard
from onechat_runtime.settings import Secret
from onechat_runtime.store import Store, migrations_in
from onechat_telegram.adapters.agent import Agent
from onechat_telegram.adapters.bot_api import BotApi as BotApiClient
from onechat_telegram.domain.ids import UserId
from onechat_telegram.gateway import Gateway, opened_gateway
from onechat_telegram.link import Link
from onechat_telegram.ownership import Ownership
from onechat_telegram.servicer import TelegramServicer, served

from tests.fakes.agent_servicer import AgentServicer
from tests.fakes.bot_api import OWNER, BotApi
from tests.fakes.clock import ManualClock
from tests.fakes.loopback import TOKENS, Loopback, serving
from tests.fakes.stores import store_at

ROME = ZoneInfo("Europe/Rome")


@dataclass
class Running:
    """A gateway at work, and everything around it."""

    api: BotApi  #: the Bot API server, where tests act as Telegram's users
    agent: AgentServicer
    store: Store
    board: HealthBoard
    link: Link
    ownership: Ownership
    gateway: Gateway
    loopback: Loopback  #: the gateway's own service
    passed: list[str]  #: the places of steps.py, as they were reached


class Bench:
    """Starts gateways on one data folder, one Bot API server and one agent."""

    def __init__(self, folder: Path, api: BotApi, agent: AgentServicer, agent_address: str) -> None:
        self.folder = folder
        self.api = api
        self.agent = agent
        self.agent_address = agent_address
        self.clock = ManualClock()
        self.vfs: str | None = None  #: of the gateways' store; None for SQLite's own

    def copy_as_if_killed(self) -> None:
        """Go on later from the store as it is now: what a gateway does after this is as if it never was."""
        killed = self.folder.with_name("killed")
        shutil.copytree(self.folder, killed, ignore=shutil.ignore_patterns("*.lock"))
        self.folder = killed

    @asynccontextmanager
    async def time_flies(self) -> AsyncIterator[None]:
        """Whatever sleeps on the clock meanwhile wakes at once."""
        turning = asyncio.ensure_future(self._turn())
        try:
            yield
        finally:
            turning.cancel()

    async def _turn(self) -> None:
        while True:
            await self.clock.until_sleeping(within_s=60)
            self.clock.advance(self.clock.sleepers[0])

    @asynccontextmanager
    async def running(
        self,
        *,
        owner: int | None = OWNER,
        clock: Clock | None = None,
        work: bool = True,
        show_drafts: bool = False,
        but_groups: bool = False,
    ) -> AsyncIterator[Running]:
        """A gateway from its start to its end; without `work` nothing runs in the background.

        With `but_groups` nobody listens to the groups: a test does.
        """
        clock = clock or self.clock
        board = HealthBoard(clock)
        passed: list[str] = []
        async with AsyncExitStack() as stack:
            store = await stack.enter_async_context(
                store_at(
                    self.folder / "store.db",
                    component="telegram",
                    migrations=migrations_in("onechat_telegram.migrations"),
                    clock=clock,
                    vfs=self.vfs,
                )
            )
            channel = await stack.enter_async_context(
                open_channel(self.agent_address, token=TOKENS["telegram"], name="agent")
            )
            client = await stack.enter_async_context(
                BotApiClient.connected(Secret(self.api.token), self.api.address)
            )
            rng = random.Random(7)
            ownership = Ownership(store, clock, None if owner is None else UserId(owner), rng.choice)
            link = Link(clock, board)
            gateway = await opened_gateway(
                client,
                Agent(channel),
                store,
                link,
                ownership,
                board=board,
                clock=clock,
                reached=passed.append,
                zone=ROME,
                rng=rng,
                show_drafts=show_drafts,
            )
            servicer = TelegramServicer(store, gateway.outbox, link, ownership, clock, groups=gateway.groups)
            loopback = await stack.enter_async_context(
                serving(served(servicer), name="telegram", board=board)
            )
            left_out = gateway.groups.background if but_groups else ()
            jobs = [job for job in gateway.background if work and job not in left_out]
            tasks = [asyncio.ensure_future(job()) for job in jobs]
            try:
                yield Running(
                    api=self.api,
                    agent=self.agent,
                    store=store,
                    board=board,
                    link=link,
                    ownership=ownership,
                    gateway=gateway,
                    loopback=loopback,
                    passed=passed,
                )
            finally:
                for task in tasks:
                    task.cancel()
                for task in tasks:
                    with suppress(asyncio.CancelledError):
                        await task
