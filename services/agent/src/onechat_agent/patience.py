"""Calls and commits that must not be lost: tried again until they are through.

For what an agent's log or store must hold: a service that is away and a disk that is full are waited out.
Times are seconds.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError, StoreFull, retriable
from onechat_runtime.store import Store

FIRST_S: Final = 1.0
LONGEST_S: Final = 60.0
AWAY_S: Final = 60.0  # a shorter outage is nobody's business
FULL_PAUSE_S: Final = 5.0  # until a full disk is looked at again

T = TypeVar("T")
log = logs.get("onechat.agent")


class Patience:
    """Waits out services that are away. Raises RemoteError only for answers that no waiting changes."""

    def __init__(self, clock: Clock, rng: random.Random) -> None:
        self._clock = clock
        self._rng = rng

    async def get(
        self,
        what: str,
        call: Callable[[], Awaitable[T]],
        *,
        away: Callable[[], Awaitable[None]] | None = None,
    ) -> T:
        """`call`'s answer, however long it takes; `what` names it in the log.

        `away` is called, once, when a minute has brought none.
        """
        pause_s = FIRST_S
        began = self._clock.monotonic()
        while True:
            try:
                return await call()
            except RemoteError as error:
                if not retriable(error.code):
                    raise
                log.warning("waiting_for_service", what=what, code=error.code.name, pause_s=round(pause_s, 1))
                if away is not None and self._clock.monotonic() - began >= AWAY_S:
                    await away()
                    away = None
                await self._clock.sleep(error.retry_after_s or pause_s * self._rng.uniform(0.5, 1.0))
            pause_s = min(pause_s * 2, LONGEST_S)


async def committed(store: Store, clock: Clock, job: Callable[[apsw.Connection], T]) -> T:
    """`job`'s result once it is on disk; on a full disk as soon as there is space again.

    Cancelled, it first waits for the commit that is at work: nobody acts on a row that is about to be there.
    """
    while True:
        writing = asyncio.ensure_future(store.write(job))
        try:
            return await asyncio.shield(writing)
        except StoreFull:
            await clock.sleep(FULL_PAUSE_S)
        except asyncio.CancelledError:
            await asyncio.wait({writing})
            if not writing.cancelled():
                writing.exception()  # a full disk undid it; nobody is left to try again
            raise
