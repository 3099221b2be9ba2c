"""Where calls wait that another one reads the prefix for. Who waits for whom: domain/prefixes.py.

A call passes, says when its stream has started, and leaves; one that leaves without a start lets the next one
go ahead.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import count

from onechat_runtime.clock import Clock

from onechat_agent.domain.prefixes import CallId, Prefix, Prefixes


class Place:
    """One call's place in the gate."""

    def __init__(self, call: CallId, passed: "asyncio.Future[None]") -> None:
        self.call = call
        self.passed = passed


class PrefixGate:
    """Lets calls through."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._prefixes = Prefixes()
        self._passing: dict[CallId, asyncio.Future[None]] = {}
        self._numbers = count(1)

    def line_up(self, prefixes: Sequence[Prefix]) -> list[Place]:
        """Places for calls that come together, in their order; each is left by `through`."""
        loop = asyncio.get_running_loop()
        places = [Place(CallId(next(self._numbers)), loop.create_future()) for _ in prefixes]
        self._passing.update((place.call, place.passed) for place in places)
        calls = [(place.call, prefix) for place, prefix in zip(places, prefixes, strict=True)]
        self._let_through(self._prefixes.ask(calls, self._clock.monotonic()))
        return places

    @asynccontextmanager
    async def through(self, place: Place) -> AsyncIterator[Callable[[], None]]:
        """Waits until the call may be made; gives what is to be called when its stream has started."""
        try:
            await place.passed
            yield lambda: self._let_through(self._prefixes.started(place.call, self._clock.monotonic()))
        finally:
            del self._passing[place.call]
            self._let_through(self._prefixes.ended(place.call, self._clock.monotonic()))

    def _let_through(self, calls: Sequence[CallId]) -> None:
        for call in calls:
            if not self._passing[call].done():
                self._passing[call].set_result(None)
