"""The composition root of the scheduler: builds everything, serves, closes it in reverse order."""

import os
import random
import sys
from contextlib import AsyncExitStack
from typing import Final
from zoneinfo import ZoneInfo

from onechat.scheduler.v1 import scheduler_service_pb2_grpc
from onechat_runtime.channels import open_channel
from onechat_runtime.clock import Clock, SystemClock
from onechat_runtime.health import HealthBoard
from onechat_runtime.server import Served, run_service, serve
from onechat_runtime.store import Store, migrations_in
from onechat_runtime.time_zone import machine_zone
from onechat_runtime.tokens import own_token

from onechat_scheduler import zone_in_force
from onechat_scheduler.adapters.agent import Agent, AgentPort
from onechat_scheduler.adapters.alarm import Alarm, system_alarm
from onechat_scheduler.book import Book
from onechat_scheduler.config import SchedulerSettings
from onechat_scheduler.handover import AGENT, HandOver
from onechat_scheduler.servicer import ALLOW, DESCRIPTOR, SchedulerServicer
from onechat_scheduler.ticker import Ticker

NAME: Final = "scheduler"
MIGRATIONS: Final = "onechat_scheduler.migrations"


async def served(
    *,
    store: Store,
    clock: Clock,
    alarm: Alarm,
    rng: random.Random,
    agent: AgentPort,
    zone: ZoneInfo,
    board: HealthBoard,
) -> Served:
    """The scheduler over `store`, whose expressions follow `zone`, with what runs behind its door."""
    await zone_in_force.follow(store, zone)
    handover = HandOver(store, clock, rng, agent, board)
    ticker = Ticker(store, clock, alarm, zone, handover, board)
    servicer = SchedulerServicer(Book(store, clock, zone, ticker.nudge))
    return Served(
        descriptor=DESCRIPTOR,
        add=lambda server: scheduler_service_pb2_grpc.add_SchedulerServiceServicer_to_server(
            servicer, server
        ),
        allow=ALLOW,
        background=(ticker.run, handover.run),
    )


async def run(settings: SchedulerSettings) -> None:
    """Serve until told to end."""
    clock = SystemClock()
    board = HealthBoard(clock)
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(
            Store.open(
                settings.data / NAME / "store.db",
                component=NAME,
                migrations=migrations_in(MIGRATIONS),
                clock=clock,
                board=board,
            )
        )
        channel = await stack.enter_async_context(
            open_channel(settings.agent_address, token=own_token(settings, NAME), name=AGENT, board=board)
        )
        service = await served(
            store=store,
            clock=clock,
            alarm=stack.enter_context(system_alarm(clock)),
            rng=random.Random(),  # noqa: S311 - it spreads retries; nothing secret hangs on it
            agent=Agent(channel),
            zone=ZoneInfo(settings.zone or machine_zone(os.environ)),
            board=board,
        )
        await serve(name=NAME, settings=settings, services=[service], board=board, store=store)


def main() -> int:
    """Run the service; its exit code."""
    return run_service(NAME, SchedulerSettings, run)


if __name__ == "__main__":
    sys.exit(main())
