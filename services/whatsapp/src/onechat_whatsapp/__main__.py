"""The whatsapp service: builds everything, serves, closes it in reverse order; without a link too."""

import os
import secrets
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from onechat_runtime.channels import open_channel
from onechat_runtime.clock import Clock, SystemClock
from onechat_runtime.health import HealthBoard
from onechat_runtime.server import run_service, serve
from onechat_runtime.steps import Reached, on_we_go
from onechat_runtime.store import Store, migrations_in
from onechat_runtime.time_zone import machine_zone
from onechat_runtime.tokens import own_token

from onechat_whatsapp.adapters.agent import Agent
from onechat_whatsapp.config import WhatsAppSettings
from onechat_whatsapp.gateway import opened_gateway
from onechat_whatsapp.servicer import served
from onechat_whatsapp.wire.ports import WhatsAppWire
from onechat_whatsapp.wire.supervisor import WhatsAppSupervisor

NAME: Final = "whatsapp"
SESSION: Final = "session.db"  #: beside the store, in a folder of mode 0700


async def run(
    settings: WhatsAppSettings,
    wire_of: Callable[[Path], WhatsAppWire] = WhatsAppSupervisor,
    reached: Reached = on_we_go,
    clock: Clock | None = None,
) -> None:
    """Serve until told to end. `wire_of` makes the wire of a session's file; `clock`: else the machine's."""
    clock = clock or SystemClock()
    board = HealthBoard(clock)
    folder = settings.data / NAME
    migrations = migrations_in("onechat_whatsapp.migrations")
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(
            Store.open(folder / "store.db", component=NAME, migrations=migrations, clock=clock, board=board)
        )
        channel = await stack.enter_async_context(
            open_channel(settings.agent_address, token=own_token(settings, NAME), name="agent", board=board)
        )
        gateway = await opened_gateway(
            wire_of(folder / SESSION),
            Agent(channel),
            store,
            board=board,
            clock=clock,
            zone=ZoneInfo(settings.zone or machine_zone(os.environ)),
            rng=secrets.SystemRandom(),
            reached=reached,
        )
        await serve(
            name=NAME,
            settings=settings,
            services=[served(gateway.servicer)],
            board=board,
            store=store,
            background=gateway.background,
        )


def main() -> int:
    """The process: its exit code."""
    return run_service(NAME, WhatsAppSettings, run)


if __name__ == "__main__":
    sys.exit(main())
