"""onechat.scheduler.v1.SchedulerService: proto to domain to proto. No rule and no SQL lives here.

Who may call what: ALLOW. How nouns translate: adapters/contract.py. What is done: book.py.
"""

import asyncio
from typing import Any, Final

from onechat.scheduler.v1 import scheduler_service_pb2 as v1
from onechat.scheduler.v1 import scheduler_service_pb2_grpc
from onechat_runtime.request_ids import call_body
from onechat_runtime.tokens import current_caller

from onechat_scheduler.adapters import contract
from onechat_scheduler.book import Book, Request
from onechat_scheduler.domain.asked import NewSchedule
from onechat_scheduler.domain.schedule import OwnerId, ScheduleId

DESCRIPTOR: Final = v1.DESCRIPTOR.services_by_name["SchedulerService"]
_CALLERS: Final = frozenset({"agent", "operator"})
ALLOW: Final = {method.name: _CALLERS for method in DESCRIPTOR.methods}


class SchedulerServicer(scheduler_service_pb2_grpc.SchedulerServiceServicer):
    """The scheduler at its door."""

    def __init__(self, book: Book) -> None:
        self._book = book

    async def CreateSchedule(
        self, request: v1.CreateScheduleRequest, context: Any
    ) -> v1.CreateScheduleResponse:
        new = NewSchedule(
            owner=OwnerId(request.owner_id),
            text=request.text,
            when=contract.when(request),
            backed=request.backed,
        )
        given = await self._book.create(new, _request("CreateSchedule", request), contract.created)
        return v1.CreateScheduleResponse.FromString(given)

    async def ListSchedules(self, request: v1.ListSchedulesRequest, context: Any) -> v1.ListSchedulesResponse:
        size = contract.page_size(request.page_size)
        of_all = not request.owner_id and current_caller() == "operator"
        owner = None if of_all else OwnerId(request.owner_id)
        schedules = self._book.page(owner, contract.place(request.page_token), size + 1)
        return contract.page(schedules, size)

    async def DeleteSchedule(
        self, request: v1.DeleteScheduleRequest, context: Any
    ) -> v1.DeleteScheduleResponse:
        given = await self._book.delete(
            OwnerId(request.owner_id),
            ScheduleId(request.schedule_id) if request.HasField("schedule_id") else None,
            _request("DeleteSchedule", request),
            contract.deleted,
        )
        return v1.DeleteScheduleResponse.FromString(given)

    async def PreviewSchedule(
        self, request: v1.PreviewScheduleRequest, context: Any
    ) -> v1.PreviewScheduleResponse:
        # In a thread: a hundred rare runs take some tenths of a second, in which others must be served.
        plan = await asyncio.to_thread(
            self._book.preview, contract.when(request), contract.runs_wanted(request.runs)
        )
        return v1.PreviewScheduleResponse(
            times=contract.timestamps(plan.times), remark=plan.remark, zone=self._book.zone
        )


def _request(rpc: str, request: v1.CreateScheduleRequest | v1.DeleteScheduleRequest) -> Request:
    return Request(id=request.request_id, body=call_body(rpc, request))
