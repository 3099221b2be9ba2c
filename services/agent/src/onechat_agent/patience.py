"""Calls that must not be lost: tried again until they are answered, with growing pauses.

For what an agent's log or store must hold. Times are seconds.
"""

import random
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError, retriable

FIRST_S: Final = 1.0
LONGEST_S: Final = 60.0

T = TypeVar("T")
log = logs.get("onechat.agent")


class Patience:
    """Waits out services that are away. Raises RemoteError only for answers that no waiting changes."""

    def __init__(self, clock: Clock, rng: random.Random) -> None:
        self._clock = clock
        self._rng = rng

    async def get(self, what: str, call: Callable[[], Awaitable[T]]) -> T:
        """`call`'s answer, however long it takes; `what` names it in the log."""
        pause_s = FIRST_S
        while True:
            try:
                return await call()
            except RemoteError as error:
                if not retriable(error.code):
                    raise
                log.warning("waiting_for_service", what=what, code=error.code.name, pause_s=round(pause_s, 1))
                await self._clock.sleep(error.retry_after_s or pause_s * self._rng.uniform(0.5, 1.0))
            pause_s = min(pause_s * 2, LONGEST_S)
