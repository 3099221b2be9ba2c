"""The telegram service: builds everything, serves, closes it in reverse order. Without a token it is idle."""

import os
import secrets
import sys
from contextlib import AsyncExitStack
from zoneinfo import ZoneInfo

from onechat_runtime.channels import open_channel
from onechat_runtime.clock import SystemClock
from onechat_runtime.health import HealthBoard
from onechat_runtime.server import run_service, serve
from onechat_runtime.steps import Reached, on_we_go
from onechat_runtime.store import Store, migrations_in
from onechat_runtime.time_zone import machine_zone
from onechat_runtime.tokens import own_token

from onechat_telegram.adapters.agent import Agent
from onechat_telegram.adapters.bot_api import BotApi
from onechat_telegram.config import TelegramSettings
from onechat_telegram.domain.ids import UserId, bot_of_token
from onechat_telegram.domain.link import LinkState
from onechat_telegram.gateway import Gateway, opened_gateway
from onechat_telegram.link import Link
from onechat_telegram.ownership import Ownership
from onechat_telegram.servicer import TelegramServicer, served

NAME = "telegram"
NOT_SET_UP = "Telegram is not set up: set TELEGRAM_TOKEN to a token from @BotFather to use it."


async def run(settings: TelegramSettings, reached: Reached = on_we_go) -> None:
    """Serve until told to end."""
    clock = SystemClock()
    board = HealthBoard(clock)
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(
            Store.open(
                settings.data / NAME / "store.db",
                component=NAME,
                migrations=migrations_in("onechat_telegram.migrations"),
                clock=clock,
                board=board,
            )
        )
        named = None if settings.owner is None else UserId(settings.owner)
        ownership = Ownership(store, clock, named, secrets.choice)
        link = Link(clock, board, LinkState.NO_TOKEN if settings.bot_token is None else LinkState.CONNECTING)
        gateway: Gateway | None = None
        if settings.bot_token is None:
            board.remark(NAME, NOT_SET_UP)
        elif bot_of_token(settings.bot_token.reveal()) is None:
            link.refuse_token()
        else:
            channel = await stack.enter_async_context(
                open_channel(
                    settings.agent_address, token=own_token(settings, NAME), name="agent", board=board
                )
            )
            api = await stack.enter_async_context(BotApi.connected(settings.bot_token, settings.base_url))
            gateway = await opened_gateway(
                api,
                Agent(channel),
                store,
                link,
                ownership,
                board=board,
                clock=clock,
                reached=reached,
                zone=ZoneInfo(settings.zone or machine_zone(os.environ)),
                show_drafts=settings.drafts,
            )
        servicer = TelegramServicer(
            store,
            gateway.outbox if gateway else None,
            link,
            ownership,
            clock,
            groups=gateway.groups if gateway else None,
        )
        await serve(
            name=NAME,
            settings=settings,
            services=[served(servicer)],
            board=board,
            store=store,
            background=gateway.background if gateway else (),
        )


def main() -> int:
    """The process: its exit code."""
    return run_service(NAME, TelegramSettings, run)


if __name__ == "__main__":
    sys.exit(main())
