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
from onechat_scheduler.domain.schedule import Run, ScheduleId

AGENT: Final = "agent"  #: the neighbour's name on the board
KEY_REUSED: Final = "KEY_REUSED"
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

    schedule: ScheduleId
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
        try:
            if not runs:
                await self._until(self._first_again(), self._look, self._back)
            elif runs[0].key in self._refused:
                await self._give_one_by_one(runs)
            else:
                await self._give(runs)
        except StoreFull:  # the same runs again once there is room: the agent service knows their keys
            await self._pause(0.0)
        except RemoteError as error:
            waiting = self._store.read(schedule_rows.waiting)
            log.info("handover_waits", runs=waiting, code=error.code.name, reason=error.reason)
            await self._pause(error.retry_after_s or 0.0)

    def _next(self) -> list[Run]:
        """The longest due runs that may be given now: all were refused before, or none was."""
        limit = RUNS_MAX + len(self._refused)
        waiting = self._store.read(lambda db: schedule_rows.runs(db, limit))
        if len(waiting) < limit:  # all there are
            self._forget_but({run.key for run in waiting})
        now_s = self._clock.monotonic()
        free = [run for run in waiting if (no := self._refused.get(run.key)) is None or no.again_s <= now_s]
        if not free:
            return []
        of_a_kind = free[0].key in self._refused
        return [run for run in free if (run.key in self._refused) is of_a_kind][:RUNS_MAX]

    async def _give(self, runs: Sequence[Run]) -> None:
        """Hand over `runs` in one call, or one by one when something of it is refused.

        Raises RemoteError when the call may work later.
        """
        if await self._refusal(runs) is None:
            await self._settle(runs)
        else:
            await self._give_one_by_one(runs)

    async def _give_one_by_one(self, runs: Sequence[Run]) -> None:
        """The same, each in a call of its own; whichever is refused is kept for later."""
        try:
            for run in runs:
                if not self._store.read(partial(schedule_rows.waits, run=run)):
                    continue  # removed meanwhile
                reason = await self._refusal([run])
                if reason is None:
                    await self._settle([run])
                else:
                    self._refuse(run, reason)
        finally:
            self._show()

    async def _refusal(self, runs: Sequence[Run]) -> str | None:
        """Hand over `runs` in one call: None, or why it was refused.

        Raises RemoteError when the call may work later.
        """
        try:
            await self._agent.deliver(runs)
        except RemoteError as error:
            if retriable(error.code):
                raise
            if len(runs) == 1 and error.reason == KEY_REUSED:  # it was given, in an earlier version's words
                log.warning("handover_known", schedule=runs[0].schedule)
                return None
            return f"{error.code.name} {error.reason}".rstrip()
        except Exception as error:  # noqa: BLE001 - whatever this side fails with must not hold up the others
            log.error("handover_failed", runs=len(runs), trace=logs.stack_of(error))
            return type(error).__name__
        log.info("handed_over", runs=len(runs))
        return None

    async def _settle(self, runs: Sequence[Run]) -> None:
        def forget(db: apsw.Connection) -> None:
            for run in runs:
                schedule_rows.settle(db, run)

        await self._store.write(forget)
        self._failures = 0
        for run in runs:
            self._refused.pop(run.key, None)
        for listener in self._when_settled:
            listener()

    def _refuse(self, run: Run, reason: str) -> None:
        known = self._refused.get(run.key)
        times = 1 if known is None else known.times + 1
        again_s = self._clock.monotonic() + min(
            LONGEST_REFUSED_S, FIRST_REFUSED_S * 2.0 ** min(times - 1, 10)
        )
        self._refused[run.key] = _Refusal(schedule=run.schedule, times=times, again_s=again_s, reason=reason)
        log.warning("handover_refused", schedule=run.schedule, times=times, reason=reason)

    def _forget_but(self, waiting: set[str]) -> None:
        """Forget what was noted of runs that are gone, as their schedules were removed."""
        self._refused = {key: one for key, one in self._refused.items() if key in waiting}
        self._show()

    def _show(self) -> None:
        if not self._refused:
            self._board.clear(_TROUBLE)
            return
        first, *others = sorted(self._refused.values(), key=lambda one: one.schedule)
        if others:
            told = (
                f"Runs of schedule {first.schedule} and {len(others)} more could not be given: the agent"
                f" service refuses them (the first: {first.reason}). They are kept and tried again. To drop"
                " one, remove its schedule."
            )
        else:
            told = (
                f"A run of schedule {first.schedule} could not be given: the agent service refuses it"
                f" ({first.reason}). It is kept and tried again. To drop it, remove the schedule."
            )
        self._board.trouble(_TROUBLE, told)

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
