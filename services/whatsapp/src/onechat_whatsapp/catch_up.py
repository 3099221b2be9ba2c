"""The catch-up: hears from the wire when one begins and ends, and has batches wait and go accordingly.

When that is: domain/catch_up.py. Each event is told to `hear` before its message is taken into a batch.
"""

from functools import partial

from onechat_runtime.clock import Clock

from onechat_whatsapp.batching import Batching
from onechat_whatsapp.domain import catch_up
from onechat_whatsapp.domain.catch_up import Waiting
from onechat_whatsapp.waiting import Moves
from onechat_whatsapp.wire.events import (
    Banned,
    CaughtUp,
    Connected,
    Disconnected,
    Heard,
    LoggedOut,
    Outdated,
    Replaced,
    WireDown,
    WireEvent,
)


class CatchUp:
    """Whether one is under way."""

    def __init__(self, batching: Batching, clock: Clock, *, linked: bool) -> None:
        """`linked`: there is a session, so that a connection will be tried."""
        self._batching = batching
        self._clock = clock
        self._waiting = catch_up.started(clock.monotonic(), linked=linked)
        self._moves = Moves(clock)

    async def hear(self, event: WireEvent) -> None:
        """Something has come from WhatsApp."""
        self._now_is(_after(self._waiting, event, self._clock))

    def unlinked(self) -> None:
        """The link was ended here: nothing more comes."""
        self._now_is(catch_up.ended(self._waiting, self._clock.monotonic()))

    async def run(self) -> None:
        """Release what waited once a catch-up is over, until cancelled."""
        while True:
            waiting, now = self._waiting, self._clock.monotonic()
            if catch_up.is_over(waiting, now):
                self._waiting = catch_up.gone(waiting, now)
                await self._batching.release()
                if self._waiting.until is not None:  # the next one has begun meanwhile
                    self._batching.hold()
                continue
            wait_s = None if waiting.until is None else waiting.until - now
            await self._moves.until(partial(self._is_not, waiting), wait_s)

    def _is_not(self, waiting: Waiting) -> bool:
        return self._waiting is not waiting

    def _now_is(self, waiting: Waiting) -> None:
        if waiting == self._waiting:
            return
        if waiting.until is not None:
            self._batching.hold()
        self._waiting = waiting
        self._moves.moved()


def _after(waiting: Waiting, event: WireEvent, clock: Clock) -> Waiting:
    match event:
        case Heard():
            return catch_up.heard(waiting, clock.monotonic())
        case Connected():
            return catch_up.came(waiting, clock.monotonic())
        case CaughtUp():
            return catch_up.finished(waiting, clock.monotonic())
        case Disconnected() | WireDown():
            return catch_up.broke(waiting)
        case LoggedOut() | Replaced() | Banned() | Outdated():
            return catch_up.ended(waiting, clock.monotonic())
        case _:
            return waiting
