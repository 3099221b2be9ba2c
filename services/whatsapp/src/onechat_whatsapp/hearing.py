"""The one reader of the wire's events: each goes to every room that hears, one after the other, in order.

A full disk holds the reading up until there is room, and so does a session that cannot be read now, so that
nothing which came is lost meanwhile. An event that a room fails at is left to the others; a person is told.
"""

import traceback
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import StoreFull
from onechat_runtime.health import HealthBoard

from onechat_whatsapp.wire.events import WireEvent
from onechat_whatsapp.wire.ports import SessionUnreadable, WhatsAppWire

#: Takes an event; the same again after it raised StoreFull or SessionUnreadable.
Hears = Callable[[WireEvent], Awaitable[None]]

FIRST_DELAY_S: Final = 1.0
LONGEST_DELAY_S: Final = 60.0
FAILED: Final = (
    "Something that came from WhatsApp could not be dealt with and may be missing: look at the phone. The "
    "log of the whatsapp service says more."
)

log = logs.get("onechat_whatsapp.hearing")


class Hearing:
    """Reads one wire for all rooms."""

    def __init__(self, wire: WhatsAppWire, hears: Sequence[Hears], board: HealthBoard, clock: Clock) -> None:
        self._wire = wire
        self._hears = tuple(hears)
        self._board = board
        self._clock = clock

    async def run(self) -> None:
        """Read until cancelled. A store that is broken ends it."""
        async for event in self._wire.events():
            for hear in self._hears:
                await self._give(hear, event)

    async def _give(self, hear: Hears, event: WireEvent) -> None:
        delay_s = FIRST_DELAY_S
        while True:
            try:
                return await hear(event)
            except (StoreFull, SessionUnreadable) as error:
                log.warning("event_waits", why=type(error).__name__, again_in_s=delay_s)
            except apsw.Error:
                raise
            except Exception as error:  # noqa: BLE001 - one message that a fault cannot read must not end all reading
                log.error("event_failed", event_type=type(event).__name__, error=_place(error))
                return self._board.trouble("hearing", FAILED)
            await self._clock.sleep(delay_s)
            delay_s = min(LONGEST_DELAY_S, delay_s * 2)


def _place(error: Exception) -> str:
    """What went wrong and where, without the error's own words: they may hold some of a message's."""
    frames = traceback.extract_tb(error.__traceback__)
    return " < ".join([type(error).__name__, *(f"{frame.name}:{frame.lineno}" for frame in reversed(frames))])
