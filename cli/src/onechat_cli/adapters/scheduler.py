"""The scheduler service, as people's commands use it. Calls raise RemoteError; times are seconds."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Final, cast

from google.protobuf.timestamp_pb2 import Timestamp
from onechat.scheduler.v1 import scheduler_service_pb2 as v1
from onechat.scheduler.v1 import scheduler_service_pb2_grpc
from onechat_runtime.channels import open_channel

from onechat_cli.domain.safe_text import sendable
from onechat_cli.domain.schedules import Foreseen, Scheduled, is_time

_CALL_S: Final = 5.0
_PAGE: Final = 1_000


class SchedulerClient:
    """Calls of one channel to the scheduler service."""

    def __init__(self, stub: "scheduler_service_pb2_grpc.SchedulerServiceAsyncStub") -> None:
        self._stub = stub

    @classmethod
    @asynccontextmanager
    async def connect(cls, address: str, token: str) -> AsyncIterator["SchedulerClient"]:
        """A client; the service need not be there."""
        async with open_channel(address, token=token, name="scheduler") as channel:
            stub = scheduler_service_pb2_grpc.SchedulerServiceStub(channel)
            yield cls(cast("scheduler_service_pb2_grpc.SchedulerServiceAsyncStub", stub))

    async def schedules(self) -> list[Scheduled]:
        """Every agent's schedules, by next time."""
        found: list[Scheduled] = []
        request = v1.ListSchedulesRequest(page_size=_PAGE)
        while True:
            page = await self._stub.ListSchedules(request, timeout=_CALL_S)
            found += map(_scheduled, page.schedules)
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    async def preview(self, when: str, *, runs: int) -> Foreseen:
        """The next `runs` runs of a schedule at `when`, a local time or a cron expression."""
        request = v1.PreviewScheduleRequest(runs=runs)
        if is_time(when):
            request.at = sendable(when)
        else:
            request.cron = sendable(when)
        answer = await self._stub.PreviewSchedule(request, timeout=_CALL_S)
        return Foreseen(
            times=tuple(map(_time, answer.times)),
            remark=answer.remark,
            zone=answer.zone,
        )

    async def remove(self, one: Scheduled, *, request_id: str) -> None:
        """Remove a schedule; RemoteError SCHEDULE_UNKNOWN when its owner has it no more."""
        request = v1.DeleteScheduleRequest(owner_id=one.owner, schedule_id=one.id, request_id=request_id)
        await self._stub.DeleteSchedule(request, timeout=_CALL_S)


def _scheduled(one: v1.Schedule) -> Scheduled:
    return Scheduled(
        id=one.schedule_id,
        owner=one.owner_id,
        text=one.text,
        at=one.at if one.HasField("at") else None,
        cron=one.cron if one.HasField("cron") else None,
        next_time=_time(one.next_time) if one.HasField("next_time") else None,
        zone=one.zone,
        backed=one.backed,
    )


def _time(stamp: Timestamp) -> datetime:
    return stamp.ToDatetime(tzinfo=UTC)
