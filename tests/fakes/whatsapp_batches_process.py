"""The gateway's way from a message to the agent as a process that kills itself, by SIGKILL, at a named place.

The places are steps.py's. Forked from a process that has imported everything and used no gRPC, so that a
test can afford many. Its time is two hundred times as fast as ours.
"""

import asyncio
import multiprocessing
import os
import random
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from onechat_whatsapp.domain.messages import Message
from onechat_whatsapp.wire.events import CaughtUp, Connected

from tests.fakes.killed_at import KilledAt, killer
from tests.fakes.whatsapp_batches import NOON, rooms_at

_FASTER = 200
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__])


class BatchesProcess(KilledAt):
    """One run: it catches up with `missed`, then hears `live`, each message by itself.

    `place` is where it kills itself, at its `nth` pass, or nowhere.
    """

    def __init__(
        self,
        folder: Path,
        agent_address: str,
        missed: Sequence[Message] = (),
        live: Sequence[Message] = (),
        place: str = "",
        nth: int = 1,
    ) -> None:
        said = (str(folder), agent_address, list(missed), list(live), place, nth)
        super().__init__(_CONTEXT.Process(target=_run, args=said, daemon=True))


class _FastClock:
    """The machine's clock, in a hurry."""

    def now(self) -> datetime:
        return NOON + timedelta(seconds=(time.time() - 1.79e9) * _FASTER)

    def monotonic(self) -> float:
        return time.monotonic() * _FASTER

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / _FASTER)


def _run(folder: str, address: str, missed: list[Message], live: list[Message], place: str, nth: int) -> None:
    path = Path(folder)
    path.mkdir(exist_ok=True, mode=0o700)
    log = os.open(path / "process.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    asyncio.run(_hear(path, address, missed, live, killer(place, nth)))


async def _hear(
    folder: Path, address: str, missed: list[Message], live: list[Message], reached: Callable[[str], None]
) -> None:
    released = asyncio.Event()

    def passed(place: str) -> None:
        reached(place)
        if place == "batches_released":
            released.set()

    async with rooms_at(
        folder, address, _FastClock(), passed, linked=True, seed=random.getrandbits(32)
    ) as rooms:
        await rooms.catch_up.hear(Connected())
        for message in missed:
            await rooms.batching.take([message])
        await rooms.catch_up.hear(CaughtUp(count=len(missed)))
        await released.wait()
        for message in live:
            await rooms.batching.take([message])
            await asyncio.sleep(0)
        await asyncio.Event().wait()
