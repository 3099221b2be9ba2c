"""A scheduler on loopback that keeps its promises on what is set, and runs nothing.

Ids are never reused, each owner has its own alone, and a request id does a thing once. When a schedule runs
it reads by another library than the service does, and without the service's rules for clock changes. `hold`
makes a method wait before it did its work or after. It passes what the real service passes:
tests/contract/test_schedulers_alike.py.
"""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

import grpc
from cronsim import CronSim, CronSimError
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from onechat.scheduler.v1 import scheduler_service_pb2 as service
from onechat.scheduler.v1 import scheduler_service_pb2_grpc
from onechat_runtime.clock import Clock, SystemClock
from onechat_runtime.errors import BadPage, BadRequestId, KeyReused, ServiceError
from onechat_runtime.listening import Served

from tests.fakes.loopback import Loopback, serving

TEXT_MAX: Final = 10_000
OWNER_MAX: Final = 200
_FIELDS: Final = re.compile(r"([\d*,/-]+ ){4}[\d*,/-]+")
_LEAST: Final = timedelta(minutes=5)
_DESCRIPTOR: Final = service.DESCRIPTOR.services_by_name["SchedulerService"]


class TextInvalid(ServiceError):
    """Write 1 to 10,000 characters."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "TEXT_INVALID"


class TimeInvalid(ServiceError):
    """Write YYYY-MM-DD HH:MM, after now."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "TIME_INVALID"


class CronInvalid(ServiceError):
    """Write five fields of numbers."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "CRON_INVALID"


class OwnerInvalid(ServiceError):
    """Name the owner."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "OWNER_INVALID"


class ScheduleUnknown(ServiceError):
    """There is no such schedule of this owner."""

    code, reason = grpc.StatusCode.NOT_FOUND, "SCHEDULE_UNKNOWN"


@dataclass(kw_only=True)
class Hold:
    """The next call of `method` waits for `released`, before its work is done or after."""

    method: str
    when: Literal["before", "after"] = "before"
    reached: asyncio.Event = field(default_factory=asyncio.Event)  #: a call has come as far
    released: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(kw_only=True)
class SchedulerServicer(scheduler_service_pb2_grpc.SchedulerServiceServicer):
    """The scheduler's state."""

    clock: Clock = field(default_factory=SystemClock)
    zone: str = "Europe/Rome"
    schedules: dict[int, service.Schedule] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)  #: by method, failed ones too
    holds: list[Hold] = field(default_factory=list)
    _first: dict[str, tuple[bytes, Message]] = field(default_factory=dict)  # by request id: body, answer
    _given: int = 0

    async def CreateSchedule(self, request: Any, context: Any) -> service.CreateScheduleResponse:
        return await self._called("CreateSchedule", request, lambda: self._create(request))

    async def DeleteSchedule(self, request: Any, context: Any) -> service.DeleteScheduleResponse:
        return await self._called("DeleteSchedule", request, lambda: self._delete(request))

    async def ListSchedules(self, request: Any, context: Any) -> service.ListSchedulesResponse:
        self.calls["ListSchedules"] += 1
        await self._held("ListSchedules", "before")
        _want_owner(request.owner_id)
        if request.page_size < 0 or (request.page_token and not request.page_token.isdecimal()):
            raise BadPage
        found = [one for one in self.schedules.values() if one.owner_id == request.owner_id]
        found.sort(key=lambda one: (one.next_time.ToMicroseconds(), one.schedule_id))
        start, size = int(request.page_token or 0), min(request.page_size or 100, 1_000)
        more = len(found) > start + size
        return service.ListSchedulesResponse(
            schedules=found[start : start + size], next_page_token=str(start + size) if more else ""
        )

    async def PreviewSchedule(self, request: Any, context: Any) -> service.PreviewScheduleResponse:
        self.calls["PreviewSchedule"] += 1
        await self._held("PreviewSchedule", "before")
        times = self._times(request, min(request.runs, 100) if request.runs > 0 else 3)
        return service.PreviewScheduleResponse(times=map(_timestamp, times), zone=self.zone)

    def hold(self, method: str, **how: Any) -> Hold:
        """Have the next call of `method` wait; see Hold."""
        self.holds.append(Hold(method=method, **how))
        return self.holds[-1]

    def _create(self, request: Any) -> service.CreateScheduleResponse:
        _want_owner(request.owner_id)
        if not request.text.strip() or len(request.text) > TEXT_MAX:
            raise TextInvalid
        times = self._times(request, 3)
        self._given += 1
        made = service.Schedule(
            schedule_id=self._given,
            owner_id=request.owner_id,
            text=request.text,
            at=request.at if request.HasField("at") else None,
            cron=" ".join(request.cron.split()) if request.HasField("cron") else None,
            next_time=_timestamp(times[0]),
            zone=self.zone,
            backed=request.backed,
        )
        self.schedules[self._given] = made
        return service.CreateScheduleResponse(schedule=made, next_times=map(_timestamp, times))

    def _delete(self, request: Any) -> service.DeleteScheduleResponse:
        _want_owner(request.owner_id)
        own = [number for number, one in self.schedules.items() if one.owner_id == request.owner_id]
        chosen = [request.schedule_id] if request.HasField("schedule_id") else own
        if not set(chosen) <= set(own):
            raise ScheduleUnknown
        for number in chosen:
            del self.schedules[number]
        return service.DeleteScheduleResponse(deleted=len(chosen))

    def _times(self, request: Any, count: int) -> list[datetime]:
        zone, now = ZoneInfo(self.zone), self.clock.now()
        if request.HasField("at"):
            return [_instant(request.at, zone, now)]
        if not request.HasField("cron"):
            raise TimeInvalid
        text = " ".join(request.cron.split())
        if not _FIELDS.fullmatch(text):
            raise CronInvalid
        try:
            times = list(islice(CronSim(text, now.astimezone(zone)), max(count, 2)))
        except CronSimError:
            raise CronInvalid from None
        if not times or (len(times) > 1 and times[1] - times[0] < _LEAST):
            raise CronInvalid
        return times[:count]

    async def _called(self, method: str, request: Any, act: Callable[[], Any]) -> Any:
        """What `act` gives, once for the same request id."""
        self.calls[method] += 1
        await self._held(method, "before")
        body = method.encode() + request.SerializeToString(deterministic=True)
        if len(request.request_id) > 200 or not request.request_id.isascii():
            raise BadRequestId
        if request.request_id in self._first:
            first, answer = self._first[request.request_id]
            if first != body:
                raise KeyReused
        else:
            answer = act()
            if request.request_id:
                self._first[request.request_id] = (body, answer)
        await self._held(method, "after")
        return answer

    async def _held(self, method: str, when: str) -> None:
        for hold in self.holds:
            if (hold.method, hold.when) == (method, when):
                self.holds.remove(hold)
                hold.reached.set()
                await hold.released.wait()
                return


def served(scheduler: SchedulerServicer) -> Served:
    """`scheduler` for whom it serves."""
    return Served(
        descriptor=_DESCRIPTOR,
        add=lambda server: scheduler_service_pb2_grpc.add_SchedulerServiceServicer_to_server(
            scheduler, server
        ),
        allow={method.name: frozenset({"agent", "operator"}) for method in _DESCRIPTOR.methods},
    )


@asynccontextmanager
async def scheduler_serving(scheduler: SchedulerServicer) -> AsyncIterator[Loopback]:
    """Serve `scheduler` on loopback."""
    async with serving(served(scheduler), name="scheduler") as loopback:
        yield loopback


def _want_owner(owner: str) -> None:
    if not 0 < len(owner) <= OWNER_MAX:
        raise OwnerInvalid


def _instant(text: str, zone: ZoneInfo, now: datetime) -> datetime:
    try:
        time = datetime.strptime(text, "%Y-%m-%d %H:%M").replace(tzinfo=zone)
    except ValueError:
        raise TimeInvalid from None
    if time <= now:
        raise TimeInvalid
    return time


def _timestamp(time: datetime) -> Timestamp:
    made = Timestamp()
    made.FromDatetime(time)
    return made
