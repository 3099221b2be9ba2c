"""Events that waiting calls listen for, so that nothing polls. Lives in the event loop's thread.

A caller listens first, then looks, then waits: what happens in between rings.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NewType

from onechat_runtime.clock import Clock

from onechat_memory.domain.leases import LogId

Topic = NewType("Topic", str)

WORK: Final = Topic("work")  #: some log may have a piece that is ready
APPENDED: Final = Topic("appended")  #: some log has new messages, or the index what can be merged
REMOVAL: Final = Topic("removal")  #: a log was deleted, and its rows are to go


def whole(log: LogId) -> Topic:
    """Rings when every leaf of `log` is built."""
    return Topic(f"whole:{log}")


class Bells:
    """Who listens for what."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._listening: dict[Topic, set[asyncio.Event]] = {}

    def ring(self, topic: Topic) -> None:
        """Wake everybody who listens for `topic`."""
        for event in self._listening.get(topic, ()):
            event.set()

    @contextmanager
    def listening(self, topic: Topic) -> Iterator["Bell"]:
        """A bell that keeps what rings from now on."""
        event = asyncio.Event()
        self._listening.setdefault(topic, set()).add(event)
        try:
            yield Bell(event, self._clock)
        finally:
            self._listening[topic].discard(event)
            if not self._listening[topic]:
                del self._listening[topic]


class Bell:
    """One listener's."""

    def __init__(self, event: asyncio.Event, clock: Clock) -> None:
        self._event = event
        self._clock = clock

    @property
    def rang(self) -> bool:
        """Whether it has rung."""
        return self._event.is_set()

    async def rung(self, within_s: float | None) -> bool:
        """Wait until it rings, for at most `within_s`, None being without end; whether it did."""
        if within_s is None:
            return await self._event.wait()
        if self._event.is_set() or within_s <= 0:
            return self._event.is_set()
        ringing = asyncio.ensure_future(self._event.wait())
        timer = asyncio.ensure_future(self._clock.sleep(within_s))
        try:
            await asyncio.wait((ringing, timer), return_when=asyncio.FIRST_COMPLETED)
        finally:
            ringing.cancel()
            timer.cancel()
        return self._event.is_set()
