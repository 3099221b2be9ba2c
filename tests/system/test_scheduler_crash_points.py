"""SIGKILL before and after each step of a run, and around each change of a schedule, in real processes.

Killed anywhere, the scheduler gives a run once, in the words that it has without a kill, and what a caller
sends again after the restart is done once. The steps: docs/design/scheduling.md. Years of runs with kills at
commits, in simulated time: the service's own tests.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC
from pathlib import Path
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

import pytest
from onechat.agent.v1 import delivery_pb2
from onechat.scheduler.v1 import scheduler_service_pb2 as v1

from tests.fakes.commit_points import commit_points
from tests.fakes.five_services import REPOSITORY, Forks
from tests.fakes.five_services_chat import CALL_S, again
from tests.fakes.five_services_points import COMMIT_OF, Point
from tests.system.schedules_run import DAILY, MISSED, ONCE, TEXT, Given, Scene, scene_in

PACKAGE: Final = REPOSITORY / "services" / "scheduler" / "src" / "onechat_scheduler"
RECORD: Final = f"{COMMIT_OF}onechat_scheduler.ticker.run"
DELIVER: Final = "onechat_scheduler.adapters.agent:Agent.deliver"
SETTLE: Final = f"{COMMIT_OF}onechat_scheduler.handover.run"
CREATE: Final = f"{COMMIT_OF}onechat_scheduler.book.create"
FOLLOW: Final = f"{COMMIT_OF}onechat_scheduler.zone_in_force.follow"
DELETE: Final = f"{COMMIT_OF}onechat_scheduler.book.delete"
#: Commits that are struck elsewhere: where.
STEPS: Final = (RECORD, DELIVER, SETTLE)
SIDES: Final[tuple[Literal["before", "after"], ...]] = ("before", "after")
MISSED_TOLD: Final = f"This is one run for the {MISSED} that were due since "


def test_the_list_names_every_commit_of_the_service() -> None:
    struck = {step.removeprefix(COMMIT_OF) for step in (RECORD, SETTLE, CREATE, DELETE, FOLLOW)}

    assert commit_points(PACKAGE) == struck


@pytest.mark.parametrize("kind", [ONCE, pytest.param(DAILY, marks=pytest.mark.soak)])
async def test_killed_around_each_step_of_a_run_it_is_given_once_in_the_same_words(
    forks: Forks, tmp_path: Path, kind: str
) -> None:
    """A single time that has just come, and a daily one that missed three runs: one for all of them."""
    found: dict[str, Given] = {}
    async with scene_in(forks, tmp_path) as scene:
        undisturbed = await scene.run_of(kind)
        for step in STEPS:
            for side in SIDES:
                point = Point(step=step, side=side, nth=1)
                found[point.words] = await scene.run_of(kind, point)
        refused = scene.model.refusals()

    assert undisturbed.deliveries == (("schedule:N", delivery_pb2.DELIVERY_KIND_WORK, True, True),)
    (said,) = undisturbed.logged
    assert said.splitlines()[0] == f"[Schedule N] {TEXT}"
    assert (MISSED_TOLD in said, undisturbed.is_kept) == (kind == DAILY, kind == DAILY)
    assert undisturbed.replies == 1
    assert {name: given for name, given in found.items() if given != undisturbed} == {}
    assert refused == []


async def test_killed_around_a_change_what_its_caller_sends_again_is_done_once(
    forks: Forks, tmp_path: Path
) -> None:
    async with scene_in(forks, tmp_path) as scene:
        numbers = [await created(scene, side) for side in SIDES]
        kept = list(await scene.schedules())
        deleted = [await removed(scene, number, side) for number, side in zip(numbers, SIDES, strict=True)]
        left = await scene.schedules()

    assert sorted(kept) == numbers
    assert deleted == [1, 1]
    assert left == {}


async def test_killed_as_it_takes_up_another_zone_expressions_follow_that_all_the_same(
    forks: Forks, tmp_path: Path
) -> None:
    """Half of them in the old zone would run hours early or late, and no later start would look again."""
    async with scene_in(forks, tmp_path) as scene:
        number = await scene.create(DAILY)
        before = (await scene.schedules())[number]
        followed: list[v1.Schedule] = []
        for zone, side in zip(("America/New_York", "Asia/Tokyo"), SIDES, strict=True):
            await scene.services.kill("scheduler")
            scene.services.environ["ONECHAT_TIME_ZONE"] = zone
            await scene.services.start("scheduler", point=Point(step=FOLLOW, side=side, nth=1), ready=False)
            await scene.services.killed("scheduler")
            await scene.services.start("scheduler")
            followed.append((await scene.schedules())[number])

    assert [one.zone for one in followed] == ["America/New_York", "Asia/Tokyo"]
    for one in (before, *followed):
        local = one.next_time.ToDatetime(UTC).astimezone(ZoneInfo(one.zone))
        assert one.cron == f"{local.minute} {local.hour} * * *"


async def created(scene: Scene, side: Literal["before", "after"]) -> int:
    """Set a schedule with a kill on that side of its commit; the id that the caller is told."""
    request = scene.request(ONCE)
    answer: v1.CreateScheduleResponse = await struck(
        scene,
        Point(step=CREATE, side=side, nth=1),
        lambda: scene.scheduler.CreateSchedule(request, timeout=CALL_S),
    )
    return answer.schedule.schedule_id


async def removed(scene: Scene, number: int, side: Literal["before", "after"]) -> int:
    """Remove it with a kill on that side of the commit; how many the caller is told."""
    request = v1.DeleteScheduleRequest(owner_id=scene.root, schedule_id=number, request_id=f"gone:{number}")
    answer: v1.DeleteScheduleResponse = await struck(
        scene,
        Point(step=DELETE, side=side, nth=1),
        lambda: scene.scheduler.DeleteSchedule(request, timeout=CALL_S),
    )
    return answer.deleted


async def struck(scene: Scene, point: Point, ask: Callable[[], Awaitable[Any]]) -> Any:
    """What `ask` answers at last, the scheduler killed at `point` and started again."""
    await scene.services.kill("scheduler")
    await scene.services.start("scheduler", point=point)
    asking = asyncio.ensure_future(again(ask))
    await scene.services.killed("scheduler")
    await scene.services.start("scheduler")
    return await asking
