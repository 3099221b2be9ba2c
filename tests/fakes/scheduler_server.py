"""The real scheduler on loopback, inside the test's own loop, with a real store; and short ways to use it.

Its clock stands still until the test turns it, by the alarm, and its agent is woken_agent.py's. It is no
double: what a test of another service sees is what the service does. Instants are aware and UTC.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from onechat.scheduler.v1 import scheduler_service_pb2 as service
from onechat.scheduler.v1 import scheduler_service_pb2_grpc
from onechat_runtime.health import HealthBoard
from onechat_runtime.store import Store, migrations_in
from onechat_scheduler.__main__ import MIGRATIONS, NAME, served
from onechat_scheduler.adapters.agent import AgentPort

from tests.fakes.clock import ManualClock
from tests.fakes.loopback import Loopback, serving
from tests.fakes.manual_alarm import ManualAlarm
from tests.fakes.stores import store_at
from tests.fakes.woken_agent import WokenAgent

MORNING = datetime(2027, 1, 15, 8, tzinfo=UTC)  #: nine o'clock in Rome, a Friday
OWNER = "ann"
TIMEOUT_S = 20.0


class SchedulerServer:
    """A scheduler that runs, seen by `caller`; all but `stub` are shorthands for a test's own owner."""

    def __init__(
        self, loopback: Loopback, store: Store, alarm: ManualAlarm, agent: WokenAgent, caller: str
    ) -> None:
        self.loopback = loopback
        self.address = loopback.address
        self.board = loopback.board
        self.store = store  #: for looking at the rows, never for changing them
        self.alarm = alarm  #: turns the clock
        self.agent = agent
        self.stub = self.seen_by(caller)

    def seen_by(self, caller: str) -> Any:
        """The calls, as `caller` makes them."""
        return scheduler_service_pb2_grpc.SchedulerServiceStub(self.loopback.channel(caller))

    async def create(
        self, text: str = "Water the plants", *, owner: str = OWNER, **fields: Any
    ) -> service.CreateScheduleResponse:
        """Set a schedule."""
        request = service.CreateScheduleRequest(owner_id=owner, text=text, **fields)
        return await self.stub.CreateSchedule(request, timeout=TIMEOUT_S)

    async def listed(self, *, owner: str = OWNER, **fields: Any) -> service.ListSchedulesResponse:
        """A page of schedules."""
        request = service.ListSchedulesRequest(owner_id=owner, **fields)
        return await self.stub.ListSchedules(request, timeout=TIMEOUT_S)

    async def ids(self, **fields: Any) -> list[int]:
        """The ids of a page's schedules."""
        return [schedule.schedule_id for schedule in (await self.listed(**fields)).schedules]

    async def remove(self, schedule: int | None = None, *, owner: str = OWNER, request_id: str = "") -> int:
        """Remove a schedule, or all of the owner's; how many it was."""
        request = service.DeleteScheduleRequest(owner_id=owner, schedule_id=schedule, request_id=request_id)
        return (await self.stub.DeleteSchedule(request, timeout=TIMEOUT_S)).deleted

    async def preview(self, **fields: Any) -> service.PreviewScheduleResponse:
        """When a schedule would run."""
        return await self.stub.PreviewSchedule(service.PreviewScheduleRequest(**fields), timeout=TIMEOUT_S)

    async def until_waiting_for(self, instant: datetime | None, within_s: float = 30.0) -> None:
        """Return once it sleeps until `instant`, None for no run to come; TimeoutError after `within_s`."""
        async with asyncio.timeout(within_s):
            while not self.alarm.is_waited_for or self.alarm.instant != instant:
                await self.store.write(lambda db: None)


@asynccontextmanager
async def scheduling(
    data: Path,
    *,
    now: datetime = MORNING,
    zone: str = "Europe/Rome",
    caller: str = "agent",
    vfs: str | None = None,
    wakes: AgentPort | None = None,
) -> AsyncIterator[SchedulerServer]:
    """The scheduler over the folder `data`, which may be empty, started at `now`.

    `wakes`: who gets the runs, instead of the server's own `agent`.
    """
    board, clock = HealthBoard(), ManualClock(now)
    alarm, agent = ManualAlarm(clock), WokenAgent(clock)
    async with store_at(
        data / NAME / "store.db",
        component=NAME,
        migrations=migrations_in(MIGRATIONS),
        clock=clock,
        board=board,
        vfs=vfs,
    ) as store:
        service_over = await served(
            store=store,
            clock=clock,
            alarm=alarm,
            rng=Random(1),
            agent=wakes or agent,
            zone=ZoneInfo(zone),
            board=board,
        )
        async with serving(service_over, board=board) as loopback:
            yield SchedulerServer(loopback, store, alarm, agent, caller)
