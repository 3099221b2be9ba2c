"""onechat.scheduler.v1.SchedulerService at its door: who may call what, and that no schedule is kept.

Every call refuses with the same sentence. That the service is there and well, health and ops.v1 say.
"""

from typing import Any, Final

from onechat.scheduler.v1 import scheduler_service_pb2 as v1
from onechat.scheduler.v1 import scheduler_service_pb2_grpc

from onechat_scheduler.errors import SchedulesNotServedYet

DESCRIPTOR: Final = v1.DESCRIPTOR.services_by_name["SchedulerService"]
_CALLERS: Final = frozenset({"agent", "operator"})
ALLOW: Final = {method.name: _CALLERS for method in DESCRIPTOR.methods}


class SchedulerServicer(scheduler_service_pb2_grpc.SchedulerServiceServicer):
    """The scheduler without schedules."""

    async def CreateSchedule(
        self, request: v1.CreateScheduleRequest, context: Any
    ) -> v1.CreateScheduleResponse:
        raise SchedulesNotServedYet

    async def ListSchedules(self, request: v1.ListSchedulesRequest, context: Any) -> v1.ListSchedulesResponse:
        raise SchedulesNotServedYet

    async def DeleteSchedule(
        self, request: v1.DeleteScheduleRequest, context: Any
    ) -> v1.DeleteScheduleResponse:
        raise SchedulesNotServedYet

    async def PreviewSchedule(
        self, request: v1.PreviewScheduleRequest, context: Any
    ) -> v1.PreviewScheduleResponse:
        raise SchedulesNotServedYet
