"""Handing recorded runs to the agent service: each until it is answered, under one key, in the same words.

The longest due first, many in a call. While the agent service is away: pauses of 1 s doubling to 60 s, ended
when it is back. A run that it refuses is kept, shown, and tried again ever more seldom; it holds up no other.
What is recorded, and when: ticker.py. Pauses are seconds.
"""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError, StoreFull, retriable
from onechat_runtime.health import HealthBoard
from onechat_runtime.store import Store

from onechat_scheduler.adapters import schedule_rows
from onechat_scheduler.adapters.agent import RUNS_MAX, AgentPort
from onechat_scheduler.domain.schedule import Run

AGENT: Final = "agent"  #: the neighbour's name on the board
FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0
FIRST_REFUSED_S: Final = 60.0
LONGEST_REFUSED_S: Final = 3_600.0
_JITTER: Final = (0.8, 1.2)
_TROUBLE: Final = "handover"

log = logs.get("onechat_scheduler.handover")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Refusal:
    """A run that the agent service would not take."""

    run: Run
    times: int
    again_s: float  #: on the monotonic clock
    reason: str


class HandOver:
    """All runs that are recorded and not settled."""

    def __init__(
        self, store: Store, clock: Clock, rng: random.Random, agent: AgentPort, board: HealthBoard
    ) -> None:
        self._store = store
        self._clock = clock
        self._rng = rng
        self._agent = agent
        self._board = board
        self._look = asyncio.Event()
        self._back = asyncio.Event()
        self._serving = False
        self._failures = 0  # one after the other, of calls that may work later
        self._apart: set[str] = set()  # keys that go one by one: something of their call was refused
        self._refused: dict[str, _Refusal] = {}  # by key
        self._when_settled: list[Callable[[], None]] = []

    def nudge(self) -> None:
        """Look at once: a run was recorded, or removed."""
        self._look.set()

    def when_settled(self, listener: Callable[[], None]) -> None:
        """Call `listener` whenever runs were settled, so that their schedules may be due again."""
        self._when_settled.append(listener)

    async def run(self) -> None:
        """Hand over until cancelled."""
        forget = self._board.on_change(self._neighbours_changed)
        self._neighbours_changed()
        try:
            while True:
                await self._round()
        finally:
            forget()

    async def _round(self) -> None:
        """One call to the agent service, or a rest while there is nothing to give."""
        self._look.clear()
        self._back.clear()
        runs = self._next()
        if not runs:
            await self._until(self._first_again(), self._look, self._back)
            return
        try:
            if await self._given(runs):
                await self._store.write(partial(_settle, runs=runs))
                self._settled(runs)
        except StoreFull:  # the same runs again once there is room: the agent service knows their keys
            await self._pause(0.0)

    def _next(self) -> list[Run]:
        """What goes into the next call: runs of one kind, either none that is to go alone or one of those."""
        limit = RUNS_MAX + len(self._refused)
        waiting = self._store.read(lambda db: schedule_rows.runs(db, limit))
        if len(waiting) < limit:  # all there are
            self._forget_but({run.key for run in waiting})
        now_s = self._clock.monotonic()
        free = [
            run for run in waiting if run.key not in self._refused or self._refused[run.key].again_s <= now_s
        ]
        if free and (free[0].key in self._apart or free[0].key in self._refused):
            return free[:1]
        return [run for run in free if run.key not in self._apart | self._refused.keys()][:RUNS_MAX]

    async def _given(self, runs: Sequence[Run]) -> bool:
        """Hand over `runs`; False when they are to be tried another time, which is seen to."""
        try:
            await self._agent.deliver(runs)
        except RemoteError as error:
            if retriable(error.code):
                log.info("handover_waits", runs=len(runs), code=error.code.name, reason=error.reason)
                await self._pause(error.retry_after_s or 0.0)
                return False
            if len(runs) == 1 and error.reason == "KEY_REUSED":  # it was given, in an earlier version's words
                log.warning("handover_known", schedule=runs[0].schedule)
                return True
            self._refuse(runs, f"{error.code.name} {error.reason}".rstrip())
            return False
        except Exception as error:  # noqa: BLE001 - whatever this side fails with must not hold up the others
            log.error("handover_failed", runs=len(runs), trace=logs.stack_of(error))
            self._refuse(runs, type(error).__name__)
            return False
        log.info("handed_over", runs=len(runs))
        return True

    def _refuse(self, runs: Sequence[Run], reason: str) -> None:
        """Try `runs` one by one, or a single one later."""
        self._failures = 0
        if len(runs) > 1:
            self._apart.update(run.key for run in runs)
            return
        (run,) = runs
        self._apart.discard(run.key)
        known = self._refused.get(run.key)
        times = 1 if known is None else known.times + 1
        pause_s = min(LONGEST_REFUSED_S, FIRST_REFUSED_S * 2.0 ** min(times - 1, 10))
        again_s = self._clock.monotonic() + pause_s * self._rng.uniform(*_JITTER)
        self._refused[run.key] = _Refusal(run=run, times=times, again_s=again_s, reason=reason)
        log.warning("handover_refused", schedule=run.schedule, times=times, reason=reason)
        self._show()

    def _settled(self, runs: Sequence[Run]) -> None:
        self._failures = 0
        for run in runs:
            self._apart.discard(run.key)
            self._refused.pop(run.key, None)
        self._show()
        for listener in self._when_settled:
            listener()

    def _forget_but(self, waiting: set[str]) -> None:
        """Forget what was noted of runs that are gone, as their schedules were removed."""
        self._apart &= waiting
        self._refused = {key: one for key, one in self._refused.items() if key in waiting}
        self._show()

    def _show(self) -> None:
        if not self._refused:
            self._board.clear(_TROUBLE)
            return
        first = min(self._refused.values(), key=lambda one: one.run.schedule)
        more = f", and {len(self._refused) - 1} more" if len(self._refused) > 1 else ""
        self._board.trouble(
            _TROUBLE,
            f"A run of schedule {first.run.schedule}{more} could not be given: the agent service refuses it"
            f" ({first.reason}). It is kept and tried again. To drop it, remove the schedule.",
        )

    def _first_again(self) -> float | None:
        """Seconds until a refused run is tried again; None while there is none."""
        times = [one.again_s for one in self._refused.values()]
        return max(0.0, min(times) - self._clock.monotonic()) if times else None

    async def _pause(self, least_s: float) -> None:
        """Wait before the next call, ever longer, or until the agent service is back."""
        pause_s = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(self._failures, 10))
        self._failures += 1
        await self._until(max(least_s, pause_s * self._rng.uniform(*_JITTER)), self._back)

    async def _until(self, seconds: float | None, *events: asyncio.Event) -> None:
        """Wait until one of `events` is set, or `seconds` have passed."""
        waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(event.wait()) for event in events]
        if seconds is not None:
            waits.append(asyncio.ensure_future(self._clock.sleep(seconds)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    def _neighbours_changed(self) -> None:
        """When the agent service has come back, end the pauses: it may take what it refused, too."""
        agent = self._board.neighbours().get(AGENT)
        was, self._serving = self._serving, agent is not None and agent.serving
        if self._serving and not was:
            self._failures = 0
            now_s = self._clock.monotonic()
            self._refused = {key: replace(one, again_s=now_s) for key, one in self._refused.items()}
            self._back.set()


def _settle(db: apsw.Connection, runs: Sequence[Run]) -> None:
    for run in runs:
        schedule_rows.settle(db, run)
