"""When no line can be had: how long leasing pauses, and who is told. Times are seconds.

Calls run side by side, so one outage meets many of them. Those that began before the last pause say nothing
of the time since: only later ones make it longer, or end it.
"""

import asyncio
from typing import Final

from onechat_runtime import logs
from onechat_runtime.clock import Clock

from onechat_agent.model.failures import ModelFailure
from onechat_agent.seat import Seat
from onechat_agent.telling import UNREACHABLE_AFTER_S, Telling

PAUSE_FIRST_S: Final = 10.0
PAUSE_LONGEST_S: Final = 300.0

log = logs.get("onechat.agent")


class Outages:
    """The pauses of the compactor."""

    def __init__(self, telling: Telling, clock: Clock) -> None:
        self._telling = telling
        self._clock = clock
        self._pause_s = 0.0
        self._until_s = clock.monotonic()
        self._hurry = asyncio.Event()
        self._failing_since: float | None = None
        self._waiting = 0
        self._lasting: asyncio.Future[ModelFailure] | None = None
        self.count = 0  #: outages so far; a call notes it when it begins

    @property
    def on(self) -> bool:
        """Whether leasing pauses now."""
        return self._clock.monotonic() < self._until_s and not self._hurry.is_set()

    def hurry(self) -> None:
        """Ends a pause: somebody waits for lines."""
        self._hurry.set()

    async def lasting_failure(self) -> ModelFailure:
        """Returns the next failure that no waiting mends; until then somebody counts as waiting."""
        if self._lasting is None or self._lasting.done():
            self._lasting = asyncio.get_running_loop().create_future()
        self._waiting += 1
        try:
            return await asyncio.shield(self._lasting)
        finally:
            self._waiting -= 1

    async def over(self) -> None:
        """Returns when leasing may go on."""
        while self.on:
            pause = asyncio.ensure_future(self._clock.sleep(self._until_s - self._clock.monotonic()))
            hurry = asyncio.ensure_future(self._hurry.wait())
            try:
                await asyncio.wait({pause, hurry}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                pause.cancel()
                hurry.cancel()

    def answered(self, began: int) -> None:
        """A call that began after `began` outages got an answer."""
        if began == self.count:
            self._pause_s = 0.0
            self._failing_since = None

    async def failed(self, failure: ModelFailure, seat: Seat, began: int) -> None:
        """A call that began after `began` outages met one; the pause is on before this first waits."""
        if not failure.retriable and self._lasting is not None and not self._lasting.done():
            self._lasting.set_result(failure)
        if began != self.count:
            return
        now_s = self._clock.monotonic()
        self.count += 1
        self._failing_since = now_s if self._failing_since is None else self._failing_since
        self._pause_s = min(max(self._pause_s * 2, PAUSE_FIRST_S), PAUSE_LONGEST_S)
        self._until_s = now_s + self._pause_s
        self._hurry.clear()
        log.warning("compaction_paused", code=failure.code, pause_s=self._pause_s)
        if self._waiting and failure.retriable and now_s - self._failing_since >= UNREACHABLE_AFTER_S:
            await self._telling.unreachable(seat, None, failure)
