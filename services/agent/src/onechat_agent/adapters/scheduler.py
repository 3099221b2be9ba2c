"""The scheduler service, as the agent uses it. Raises the runtime's RemoteError; deadlines in seconds.

What it refuses because of what it was asked is a ScheduleRefused (domain/schedule.py) in its own words.
"""

from collections.abc import AsyncIterator
from datetime import UTC
from typing import Any, Final

import grpc.aio
from onechat.scheduler.v1 import scheduler_service_pb2 as service
from onechat.scheduler.v1 import scheduler_service_pb2_grpc
from onechat_runtime.errors import RemoteError

from onechat_agent.adapters.refusals import refusals_of
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.schedule import Planned, Schedule, ScheduleRefused

CALL_S: Final = 5.0  # the contract's
PAGE: Final = 1_000  # the most that it gives at once
NUMBER_MAX: Final = 2**63 - 1  # what its ids travel as holds no more

_refusals: Final = refusals_of(service.ErrorReason, ScheduleRefused)


class SchedulerClient:
    """The schedules of the agents of this house."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub: Any = scheduler_service_pb2_grpc.SchedulerServiceStub(channel)

    async def create(
        self, owner: AgentId, text: str, *, at: str | None, cron: str | None, backed: bool, request_id: str
    ) -> Planned:
        """Sets a schedule by either `at` or `cron`, once for the same `request_id`.

        What was set first stays, whatever `backed` is now. Raises ScheduleRefused.
        """
        request = service.CreateScheduleRequest(
            owner_id=owner, text=text, at=at, cron=cron, backed=backed, request_id=request_id
        )
        with _refusals():
            try:
                answer = await self._stub.CreateSchedule(request, timeout=CALL_S)
            except RemoteError as error:
                if error.reason != "KEY_REUSED":
                    raise
                # A call that is made again after a restart may see its turn tainted by what ran beside it.
                request.backed = not backed
                answer = await self._stub.CreateSchedule(request, timeout=CALL_S)
        return Planned(
            schedule=_schedule(answer.schedule),
            next_times=tuple(time.ToDatetime(tzinfo=UTC) for time in answer.next_times),
            remark=answer.remark,
        )

    async def schedules(self, owner: AgentId) -> list[Schedule]:
        """All of an owner's, by next time."""
        return [one async for one in self._pages(owner)]

    async def _pages(self, owner: AgentId) -> AsyncIterator[Schedule]:
        request = service.ListSchedulesRequest(owner_id=owner, page_size=PAGE)
        while True:
            answer = await self._stub.ListSchedules(request, timeout=CALL_S)
            for one in answer.schedules:
                yield _schedule(one)
            if not answer.next_page_token:
                return
            request.page_token = answer.next_page_token

    async def remove(self, owner: AgentId, number: int, *, request_id: str) -> bool:
        """Removes one of the owner's, once for the same `request_id`; whether there is such a one.

        Raises ScheduleRefused.
        """
        if not 0 < number <= NUMBER_MAX:
            return False
        request = service.DeleteScheduleRequest(owner_id=owner, schedule_id=number, request_id=request_id)
        with _refusals():
            try:
                await self._stub.DeleteSchedule(request, timeout=CALL_S)
            except RemoteError as error:
                if error.reason != "SCHEDULE_UNKNOWN":
                    raise
                return False
        return True

    async def remove_all(self, owner: AgentId, *, request_id: str) -> None:
        """Removes all of an owner's; that there are none is fine."""
        request = service.DeleteScheduleRequest(owner_id=owner, request_id=request_id)
        await self._stub.DeleteSchedule(request, timeout=CALL_S)


def _schedule(found: service.Schedule) -> Schedule:
    return Schedule(
        number=found.schedule_id,
        text=found.text,
        at=found.at if found.HasField("at") else None,
        cron=found.cron if found.HasField("cron") else None,
        next_time=found.next_time.ToDatetime(tzinfo=UTC) if found.HasField("next_time") else None,
        zone=found.zone,
        backed=found.backed,
    )
