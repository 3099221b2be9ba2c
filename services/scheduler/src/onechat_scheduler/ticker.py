"""Recording what is due, at its time: one run of a schedule for all that came since its last one.

It sleeps until the soonest instant there is, and looks anew when the book changed, a run was settled, the
clock was set or the machine woke. A schedule moves on in the commit that records its run, and never back: a
clock that steps back runs nothing twice. Handing over: handover.py. Instants are aware, UTC; pauses are
seconds.
"""

import asyncio
from collections.abc import Coroutine
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import StoreFull
from onechat_runtime.health import HealthBoard
from onechat_runtime.store import Store

from onechat_scheduler.adapters import schedule_rows
from onechat_scheduler.adapters.alarm import Alarm
from onechat_scheduler.domain.cron import parse
from onechat_scheduler.domain.recurrence import missed, next_run
from onechat_scheduler.domain.schedule import Run, Schedule
from onechat_scheduler.domain.wording import run_text
from onechat_scheduler.handover import HandOver

RUNS_PER_COMMIT: Final = 256
WORK_PER_COMMIT_S: Final = 0.1  #: what else is to be written waits no longer; counting missed runs takes time
BEHIND: Final = timedelta(hours=1)  #: a clock that stands further back than this is worth a person's look
FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0
_TROUBLE: Final = "clock"

log = logs.get("onechat_scheduler.ticker")


class Ticker:
    """The service's sense of time."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        alarm: Alarm,
        zone: ZoneInfo,
        handed: HandOver,
        board: HealthBoard,
    ) -> None:
        self._store = store
        self._clock = clock
        self._alarm = alarm
        self._zone = zone
        self._handed = handed
        self._board = board
        self._changed = asyncio.Event()
        self._looked: datetime | None = None
        self._behind_until: datetime | None = None  # while the clock stands back: when it will have caught up
        handed.when_settled(self.nudge)

    def nudge(self) -> None:
        """Look at once: a schedule came or went, or is free to run again."""
        self._changed.set()
        self._handed.nudge()

    async def run(self) -> None:
        """Record what is due, until cancelled."""
        failures = 0
        while True:
            self._changed.clear()
            try:
                soonest = await self._record_due()
            except StoreFull:  # the board says so; what is due meanwhile counts into late runs
                pause_s = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(failures, 10))
                failures += 1
                await self._unless_changed(self._clock.sleep(pause_s))
                continue
            failures = 0
            await self._compare_clock()
            instants = [one for one in (soonest, self._behind_until) if one is not None]
            await self._unless_changed(self._alarm.until(min(instants, default=None)))

    async def _record_due(self) -> datetime | None:
        """Record all that is due now; when the next is, or None."""
        while True:
            soonest = self._store.read(schedule_rows.soonest)
            if soonest is None or soonest > self._clock.now():
                return soonest
            recorded = await self._store.write(self._record)
            if recorded:
                log.info("runs_recorded", runs=recorded)
                self._handed.nudge()

    def _record(self, db: apsw.Connection) -> int:
        """In one transaction: record runs and move their schedules on; how many. The clock decides here."""
        now = self._clock.now()
        end_s = self._clock.monotonic() + WORK_PER_COMMIT_S
        recorded = 0
        for schedule in schedule_rows.due(db, now, RUNS_PER_COMMIT):
            run, next_time = run_of(schedule, now, self._zone)
            schedule_rows.record(db, run, run.due, next_time)
            recorded += 1
            if self._clock.monotonic() >= end_s:
                break
        return recorded

    async def _compare_clock(self) -> None:
        """Say so when the clock stands long before what was dealt with, as nothing runs twice."""
        now = self._clock.now()
        looked, self._looked = self._looked, now
        if looked is not None and now >= looked and self._behind_until is None:
            return
        latest = await self._store.read_aside(schedule_rows.dealt_with)
        if latest is None or latest - now <= BEHIND:
            self._behind_until = None
            self._board.clear(_TROUBLE)
            return
        self._behind_until = latest - BEHIND
        log.warning("clock_behind", behind_s=(latest - now).total_seconds())
        self._board.trouble(
            _TROUBLE,
            f"The clock stands before {latest.astimezone(self._zone):%Y-%m-%d %H:%M} ({self._zone.key}), when"
            " a schedule was set or has run. Nothing runs twice, so it waits until after that. Check this"
            " machine's clock; if it is right, remove schedules that wait so and set them again.",
        )

    async def _unless_changed(self, wait: Coroutine[Any, Any, None]) -> None:
        """Await `wait`, but no longer than until there is something to look at."""
        waits = [asyncio.ensure_future(wait), asyncio.ensure_future(self._changed.wait())]
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for one in done:
                one.result()
        finally:
            for one in waits:
                one.cancel()
            await asyncio.gather(*waits, return_exceptions=True)


def run_of(schedule: Schedule, now: datetime, zone: ZoneInfo) -> tuple[Run, datetime | None]:
    """The run of `schedule`, which is due at `now`, and when it runs next; None: never again.

    Its due instant is the latest that has come; the words say what earlier ones it stands for.
    """
    due, came, next_time = schedule.next_time, None, None
    assert due is not None
    if schedule.cron is not None:
        cron = parse(schedule.cron)
        came = missed(cron, zone, schedule.last_time, now)
        due = due if came is None else came.latest
        next_time = next_run(cron, zone, due)
    run = Run(
        schedule=schedule.id,
        owner=schedule.owner,
        due=due,
        text=run_text(schedule, due, now, came, zone),
        backed=schedule.backed,
    )
    return run, next_time
