"""Telegram with the real telegram, agent and memory services, which are killed while people write to the bot.

Each update is in its log once and has its effect once; each reply is in its chat once, or, where it cannot be
known whether it is, a second time and marked in the owner's chat, and not repeated in a group. The seed is
fixed, so that what is said and which kill comes when is the same in every run; the moments within a
millisecond are the machine's.
"""

import asyncio
import random
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.fakes.five_services import Forks
from tests.fakes.five_services_points import SEND, Point
from tests.system.over_telegram import over_telegram
from tests.system.strikes import Kill, kills
from tests.system.telegram_left import complaints
from tests.system.telegram_run import TelegramRun
from tests.system.telegram_script import Kind, Thing, first_of, script

SEED = 20261130
SHOWN_S = 120.0
SENDS = (1, 2, 3)  #: the quarters of a run after which a kill comes right after a send
LOOK_AGAIN_S = 0.2


async def complaints_after(
    forks: Forks, folder: Path, updates: int, wanted: dict[str, int], seed: int = SEED
) -> list[str]:
    """What is wrong after so many updates with so many kills of each service."""
    rng = random.Random(seed)
    first, said = first_of(rng, Kind.TEXT, 999), script(rng, updates)
    async with over_telegram(forks, folder) as over:
        run = TelegramRun(over, rng)
        await run.open(first, said)
        planned = [
            *kills(rng, wanted, len(said)),
            *(right_after_a_send(len(said) * part // 4) for part in SENDS),
        ]
        await run.live(said, planned)
        assert sum(run.services.kills.values()) == sum(wanted.values()) + len(SENDS)
        return await in_the_end(run, [first, *said])


def right_after_a_send(after: int) -> Kill:
    """Of the gateway, when a message is in a chat and nothing on disk says so; whichever chat that is."""
    point = Point(step=SEND, side="after", nth=1)
    return Kill(service="telegram", after=after, later_s=0, point=point)


async def in_the_end(run: TelegramRun, said: Sequence[Thing]) -> list[str]:
    """What is wrong once nothing is on its way any more."""
    end = time.monotonic() + SHOWN_S
    while True:
        on_its_way = not await run.over.has_sent_all()
        found = await complaints(run, said)
        if (not on_its_way and not found) or time.monotonic() > end:
            return found
        await asyncio.sleep(LOOK_AGAIN_S)


async def test_six_kills_in_two_dozen_updates_lose_nothing_and_repeat_nothing(
    forks: Forks, tmp_path: Path
) -> None:
    assert await complaints_after(forks, tmp_path, 24, {"telegram": 1, "agent": 1, "memory": 1}) == []


@pytest.mark.soak
@pytest.mark.timeout(900)
async def test_fifty_kills_in_three_hundred_updates_lose_nothing_and_repeat_nothing(
    forks: Forks, tmp_path: Path
) -> None:
    assert await complaints_after(forks, tmp_path, 300, {"telegram": 47, "agent": 10, "memory": 5}) == []
