"""The composition root of the scheduler: its store for the lock, the servicer, the server."""

import sys
from typing import Final

from onechat.scheduler.v1 import scheduler_service_pb2_grpc
from onechat_runtime.clock import SystemClock
from onechat_runtime.health import HealthBoard
from onechat_runtime.server import Served, run_service, serve
from onechat_runtime.store import Store

from onechat_scheduler.config import SchedulerSettings
from onechat_scheduler.servicer import ALLOW, DESCRIPTOR, SchedulerServicer

NAME: Final = "scheduler"
REMARK: Final = "There are no schedules; this version cannot keep any yet."


def served() -> Served:
    """The scheduler's contract behind the door."""
    return Served(
        descriptor=DESCRIPTOR,
        add=lambda server: scheduler_service_pb2_grpc.add_SchedulerServiceServicer_to_server(
            SchedulerServicer(), server
        ),
        allow=ALLOW,
    )


async def run(settings: SchedulerSettings) -> None:
    """Serve until told to end."""
    board = HealthBoard()
    board.remark("schedules", REMARK)
    # It keeps nothing yet; its lock keeps a second scheduler off the same data.
    async with Store.open(
        settings.data / NAME / "store.db", component=NAME, migrations=(), clock=SystemClock(), board=board
    ) as store:
        await serve(name=NAME, settings=settings, services=[served()], board=board, store=store)


def main() -> int:
    """Run the service; its exit code."""
    return run_service(NAME, SchedulerSettings, run)


if __name__ == "__main__":
    sys.exit(main())
