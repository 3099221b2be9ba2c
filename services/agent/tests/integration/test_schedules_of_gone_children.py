"""A child whose folder was taken away leaves no schedules behind, whenever the scheduler hears of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from onechat.scheduler.v1 import scheduler_service_pb2 as service
from onechat.scheduler.v1 import scheduler_service_pb2_grpc

from tests.fakes.agent_house import living
from tests.fakes.child_folders import (
    HOUSE,
    children,
    house_opened_once,
    put_house,
    ready,
    take_house_away,
    until,
)
from tests.fakes.loopback import Loopback
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scheduler_servicer import SchedulerServicer, scheduler_serving
from tests.fakes.scripted_model import ScriptedModel


@pytest.fixture
def scheduler() -> SchedulerServicer:
    return SchedulerServicer()


@pytest.fixture
async def there(scheduler: SchedulerServicer) -> AsyncIterator[Loopback]:
    """Where the scheduler listens."""
    async with scheduler_serving(scheduler) as loopback:
        yield loopback


async def put_schedules(there: Loopback, *owners: str) -> None:
    """A schedule for each of these."""
    stub = scheduler_service_pb2_grpc.SchedulerServiceStub(there.channel("agent"))
    for owner in owners:
        request = service.CreateScheduleRequest(owner_id=owner, text="Air the rooms.", cron="0 8 * * *")
        await stub.CreateSchedule(request, timeout=20)


def owners(scheduler: SchedulerServicer) -> list[str]:
    return [one.owner_id for one in scheduler.schedules.values()]


async def gone(scheduler: SchedulerServicer) -> None:
    """Returns once House has no schedules."""

    async def none_left() -> bool:
        return HOUSE not in owners(scheduler)

    await until(none_left)


async def test_its_schedules_go_with_it_and_nobody_elses(
    tmp_path: Path,
    memory: MemoryServer,
    model: ScriptedModel,
    scheduler: SchedulerServicer,
    there: Loopback,
) -> None:
    root = await house_opened_once(tmp_path, memory, model)
    await put_schedules(there, root, HOUSE, HOUSE)
    take_house_away(tmp_path)

    async with living(tmp_path, memory, model, scheduler=there, after=0) as house:
        await gone(scheduler)

        assert owners(scheduler) == [root]
        await house.seen.until(lambda seen: "its schedules are deleted" in "".join(seen.notices()))


async def test_a_scheduler_that_is_away_hears_of_it_at_a_later_start(
    tmp_path: Path,
    memory: MemoryServer,
    model: ScriptedModel,
    scheduler: SchedulerServicer,
    there: Loopback,
) -> None:
    await house_opened_once(tmp_path, memory, model)
    await put_schedules(there, HOUSE)
    take_house_away(tmp_path)
    async with living(tmp_path, memory, model) as house:
        assert children(house) == {}

    async with living(tmp_path, memory, model, scheduler=there):
        await gone(scheduler)


async def test_a_folder_that_comes_back_before_that_keeps_its_schedules(
    tmp_path: Path,
    memory: MemoryServer,
    model: ScriptedModel,
    scheduler: SchedulerServicer,
    there: Loopback,
) -> None:
    await house_opened_once(tmp_path, memory, model)
    await put_schedules(there, HOUSE)
    take_house_away(tmp_path)
    async with living(tmp_path, memory, model):
        pass
    put_house(tmp_path)

    async with living(tmp_path, memory, model, scheduler=there) as house:
        await ready(house, "House")

        assert owners(scheduler) == [HOUSE]
        left = house.store.read(lambda db: db.execute("SELECT kind FROM outbox").fetchall())
        assert left == []


async def test_a_child_that_goes_a_second_time_leaves_none_behind_either(
    tmp_path: Path,
    memory: MemoryServer,
    model: ScriptedModel,
    scheduler: SchedulerServicer,
    there: Loopback,
) -> None:
    """The scheduler does a thing once for the same request, so each departure asks by its own."""
    await house_opened_once(tmp_path, memory, model)
    for _ in range(2):
        put_house(tmp_path)
        async with living(tmp_path, memory, model, scheduler=there) as house:
            await ready(house, "House")
        await put_schedules(there, HOUSE)
        take_house_away(tmp_path)

        async with living(tmp_path, memory, model, scheduler=there):
            await gone(scheduler)


async def test_a_lost_answer_is_asked_for_again_by_the_same_request(
    tmp_path: Path,
    memory: MemoryServer,
    model: ScriptedModel,
    scheduler: SchedulerServicer,
    there: Loopback,
) -> None:
    await house_opened_once(tmp_path, memory, model)
    await put_schedules(there, HOUSE)
    take_house_away(tmp_path)
    held = scheduler.hold("DeleteSchedule", when="after")
    async with living(tmp_path, memory, model, scheduler=there):
        await held.reached.wait()
    held.released.set()
    await put_schedules(there, HOUSE)  # what came after the first one's work shows whether it was done anew

    async with living(tmp_path, memory, model, scheduler=there) as house:

        async def handed_over() -> bool:
            left = house.store.read(lambda db: db.execute("SELECT kind FROM outbox").fetchall())
            return left == []

        await until(handed_over)

        assert scheduler.calls["DeleteSchedule"] == 2
        assert owners(scheduler) == [HOUSE]
