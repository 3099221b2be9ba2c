"""The book of schedules: set, listed, removed, and what one would be. Each change is one transaction.

A change is remembered by its request's id, with the answer that its caller makes of it. Whoever sleeps until
the soonest run is told when a change is on disk. Which rows there are: adapters/schedule_rows.py; when a
schedule runs: domain/; who runs it: ticker.py.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.request_ids import once
from onechat_runtime.store import Store

from onechat_scheduler.adapters import schedule_rows
from onechat_scheduler.adapters.schedule_rows import Place
from onechat_scheduler.domain import cron, local_time, recurrence
from onechat_scheduler.domain.asked import NewSchedule, When, is_owner, text_fault
from onechat_scheduler.domain.schedule import OwnerId, Schedule, ScheduleId
from onechat_scheduler.domain.wording import remark
from onechat_scheduler.errors import CronInvalid, OwnerInvalid, ScheduleUnknown, TextInvalid, TimeInvalid

RUNS_TOLD: Final = 3  #: how many of the next runs whoever sets a schedule is told


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What tells a call that comes twice."""

    id: str  #: the caller's; empty for none
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """When a schedule runs, as it was understood."""

    at: str | None  #: local time, "YYYY-MM-DD HH:MM"
    cron: str | None  #: five fields, one space between
    times: list[datetime]  #: the next runs, at least one; a single time has one
    remark: str  #: that the clocks change among them; else empty


class Book:
    """All schedules of all owners. Local times and expressions are read in `zone`."""

    def __init__(self, store: Store, clock: Clock, zone: ZoneInfo, on_change: Callable[[], None]) -> None:
        """`on_change` is called once a change of what is due is on disk."""
        self._store = store
        self._clock = clock
        self._zone = zone
        self._on_change = on_change

    @property
    def zone(self) -> str:
        """The IANA zone in which times and expressions are read."""
        return self._zone.key

    async def create(
        self, new: NewSchedule, request: Request, answer: Callable[[Schedule, Plan], bytes]
    ) -> bytes:
        """Keep a new schedule; the `answer` to it.

        Raises OwnerInvalid, TextInvalid, TimeInvalid, CronInvalid, KeyReused, BadRequestId, StoreFull.
        """
        _must_own(new.owner)
        if fault := text_fault(new.text):
            raise TextInvalid(fault)
        now = self._clock.now()

        def job(db: apsw.Connection) -> bytes:
            # A request that comes again is answered as it was, though its time may be past by now.
            plan = self._planned(new.when, now, RUNS_TOLD)
            schedule = schedule_rows.add(
                db,
                owner=new.owner,
                text=new.text,
                at=plan.at,
                cron=plan.cron,
                zone=self.zone,
                backed=new.backed,
                now=now,
                next_time=plan.times[0],
            )
            self._store.when_committed(self._on_change)
            return answer(schedule, plan)

        return await self._once(request, now, job)

    def page(self, owner: OwnerId | None, after: Place | None, limit: int) -> list[Schedule]:
        """Up to `limit` schedules of `owner`, or of all owners for None, by their next time, from `after` on.

        Raises OwnerInvalid.
        """
        if owner is not None:
            _must_own(owner)
        return self._store.read(lambda db: schedule_rows.page(db, owner, after, limit))

    async def delete(
        self,
        owner: OwnerId,
        schedule: ScheduleId | None,
        request: Request,
        answer: Callable[[int], bytes],
    ) -> bytes:
        """Remove `schedule`, or all of the owner's for None, with what is due; the `answer` to how many.

        Raises OwnerInvalid, ScheduleUnknown, KeyReused, BadRequestId, StoreFull.
        """
        _must_own(owner)

        def job(db: apsw.Connection) -> bytes:
            removed = _removed(db, owner, schedule)
            if removed:
                self._store.when_committed(self._on_change)
            return answer(removed)

        return await self._once(request, self._clock.now(), job)

    def preview(self, when: When, count: int) -> Plan:
        """When a schedule would run, `count` runs at the most. Raises TimeInvalid, CronInvalid."""
        return self._planned(when, self._clock.now(), count)

    def _planned(self, when: When, now: datetime, count: int) -> Plan:
        times: list[datetime]
        if when.cron is not None:
            try:
                expression = cron.parse(when.cron)
            except cron.CronRefused as refused:
                raise CronInvalid(str(refused)) from None
            times = recurrence.next_runs(expression, self._zone, now, count)
            if not times:
                raise CronInvalid("This expression does not come again before the year 10000.")
            at, text = None, expression.text
        elif when.at is not None:
            try:
                times = [local_time.instant_of(when.at, self._zone, now)]
            except local_time.TimeRefused as refused:
                raise TimeInvalid(str(refused)) from None
            at, text = local_time.local(times[0], self._zone), None
        else:
            raise TimeInvalid
        return Plan(at=at, cron=text, times=times, remark=remark(self._zone, times, now))

    async def _once(self, request: Request, now: datetime, job: Callable[[apsw.Connection], bytes]) -> bytes:
        """What `job` gives, or gave when this request came first."""
        return await self._store.write(
            lambda db: once(db, request_id=request.id, body=request.body, now=now, answer=partial(job, db))
        )


def _must_own(owner: OwnerId) -> None:
    if not is_owner(owner):
        raise OwnerInvalid


def _removed(db: apsw.Connection, owner: OwnerId, schedule: ScheduleId | None) -> int:
    if schedule is None:
        return schedule_rows.remove_all(db, owner)
    if not schedule_rows.remove(db, owner, schedule):
        raise ScheduleUnknown(
            f"There is no schedule {schedule} of this owner. List the schedules to see those that are there."
        )
    return 1
