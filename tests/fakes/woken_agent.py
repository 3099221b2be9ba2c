"""An agent service, as the scheduler sees it, that takes runs and keeps the promises of Deliver.

A known key in the same words is not taken again; in other words it is refused, and nothing of that call is
taken. It passes what the real one passes: tests/contract/test_runs_taken_alike.py.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import grpc
from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError
from onechat_scheduler.domain.schedule import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A run that was taken, and when."""

    run: Run
    time: datetime


class WokenAgent:
    """What it took, and how it is to fail."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.taken: dict[str, Taken] = {}  #: by key, in order
        self.calls: list[list[str]] = []  #: the keys of each call, failed ones too
        self.given: Counter[str] = Counter()  #: how often each key came in a call that was not refused
        self.away = False  #: it cannot be reached
        self.answers_lost = 0  #: of so many calls to come, it does the work but the answer is lost
        self.refused: dict[str, RemoteError] = {}  #: by key: any call with it fails so
        self.before: Callable[[], None] = lambda: None  #: runs before a call's work
        self.after: Callable[[], None] = lambda: None  #: and after it
        self.hold: asyncio.Event | None = None  #: calls wait for it after their work
        self._changed = asyncio.Condition()

    async def deliver(self, runs: Sequence[Run]) -> None:
        self.calls.append([run.key for run in runs])
        try:
            await self._deliver(runs)
        finally:
            async with self._changed:
                self._changed.notify_all()

    async def _deliver(self, runs: Sequence[Run]) -> None:
        self.before()
        if self.away:
            raise RemoteError(grpc.StatusCode.UNAVAILABLE, "nobody there")
        for run in runs:
            if run.key in self.refused:
                raise self.refused[run.key]
            known = self.taken.get(run.key)
            if known is not None and known.run != run:
                raise RemoteError(grpc.StatusCode.ALREADY_EXISTS, "other words", reason="KEY_REUSED")
        for run in runs:
            self.given[run.key] += 1
            self.taken.setdefault(run.key, Taken(run=run, time=self._clock.now()))
        if self.hold is not None:
            async with self._changed:
                self._changed.notify_all()
            await self.hold.wait()
        self.after()
        if self.answers_lost:
            self.answers_lost -= 1
            raise RemoteError(grpc.StatusCode.DEADLINE_EXCEEDED, "no answer came")

    def texts(self) -> list[str]:
        """What was taken, in order."""
        return [taken.run.text for taken in self.taken.values()]

    async def until(self, condition: Callable[[], bool], within_s: float = 30.0) -> None:
        """Return once `condition` holds after a call; TimeoutError after `within_s` of real time."""
        async with asyncio.timeout(within_s), self._changed:
            await self._changed.wait_for(condition)
