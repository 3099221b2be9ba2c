"""The one reader of the wire's events: each goes to every room that hears, one after the other, in order.

A full disk holds the reading up until there is room, so that nothing which came is lost meanwhile.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import StoreFull

from onechat_whatsapp.wire.events import WireEvent
from onechat_whatsapp.wire.ports import WhatsAppWire

Hears = Callable[[WireEvent], Awaitable[None]]  #: takes an event; the same again after it raised StoreFull

FIRST_DELAY_S: Final = 1.0
LONGEST_DELAY_S: Final = 60.0

log = logs.get("onechat_whatsapp.hearing")


class Hearing:
    """Reads one wire for all rooms."""

    def __init__(self, wire: WhatsAppWire, hears: Sequence[Hears], clock: Clock) -> None:
        self._wire = wire
        self._hears = tuple(hears)
        self._clock = clock

    async def run(self) -> None:
        """Read until cancelled."""
        async for event in self._wire.events():
            for hear in self._hears:
                await self._give(hear, event)

    async def _give(self, hear: Hears, event: WireEvent) -> None:
        delay_s = FIRST_DELAY_S
        while True:
            try:
                return await hear(event)
            except StoreFull:
                log.warning("event_waits", why="the disk is full", again_in_s=delay_s)
            await self._clock.sleep(delay_s)
            delay_s = min(LONGEST_DELAY_S, delay_s * 2)
