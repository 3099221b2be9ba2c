"""The telegram service's real calls on groups, on loopback, over real group chats of a made-up platform.

The platform, the agents and the owner are group_bench.py's; ids of its groups are numbers, as Telegram's are.
"""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from onechat_runtime.health import HealthBoard
from onechat_telegram.domain.link import LinkState
from onechat_telegram.link import Link
from onechat_telegram.ownership import Ownership
from onechat_telegram.servicer import TelegramServicer, served

from tests.fakes.group_bench import RunningGroups
from tests.fakes.loopback import Loopback, serving


async def add(running: RunningGroups, chat: int, title: str) -> None:
    """The owner puts the bot into a group, which awaits their yes."""
    room = running.bench.platform.room(str(chat), title, "anna")
    running.bench.platform.add_bot(room, "olga", by_owner=True)
    await running.settled()


@asynccontextmanager
async def groups_serving(running: RunningGroups, *, has_bot: bool = True) -> AsyncIterator[Loopback]:
    """The service at its door, over the groups of `running`, or over its store alone, as without a token."""
    clock = running.bench.clock
    board = HealthBoard(clock)
    servicer = TelegramServicer(
        running.store,
        None,
        Link(clock, board, LinkState.CONNECTED if has_bot else LinkState.NO_TOKEN),
        Ownership(running.store, clock, None, random.Random(1).choice),
        clock,
        groups=running.chats if has_bot else None,
    )
    async with serving(served(servicer), name="telegram", board=board) as loopback:
        yield loopback
