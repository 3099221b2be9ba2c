"""Schedules over five real processes: set by the root's tool, given at their time, answered; none is lost.

Points at which the scheduler is killed: test_scheduler_crash_points.py.
"""

import asyncio
import random
import shutil
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from onechat.common.v1.message_kind_pb2 import MESSAGE_KIND_REPLY, MESSAGE_KIND_WORK
from onechat_agent.adapters import agent_folder
from onechat_agent.domain.chat import AgentId

from tests.fakes.five_services import LOOK_S, Forks, until
from tests.fakes.five_services_points import COMMIT_OF, Point
from tests.system.schedules_run import (
    DAILY,
    DONE,
    ONCE,
    TEXT,
    WITHIN_S,
    key_of,
    next_year,
    scene_in,
)

SEED = 20261130
CHILD = AgentId("0123456789abcdef")
KILLS = 20
SOON_S = 1.0  # from before a start until what is due soon is due
TIME_TO_FILL_S = 5.0  # in which a scheduler starts, and its disk is filled
LATE_AT_MOST = timedelta(seconds=1)
LAST_SECOND = 45  # of a minute, in which there is time to set what the next one wants
COMING, MISSING = 60, 10  # schedules that come due one after the other, and that have missed runs
BETWEEN_S = 0.25
CREATING = "onechat_agent.adapters.scheduler:SchedulerClient.create"
SETTING = (
    ("agent", Point(step=CREATING, side="before", nth=1)),
    ("agent", Point(step=CREATING, side="after", nth=1)),
    ("scheduler", Point(step=f"{COMMIT_OF}onechat_scheduler.book.create", side="after", nth=1)),
)


async def test_a_schedule_that_the_root_sets_is_given_at_its_time_and_answered(
    forks: Forks, tmp_path: Path
) -> None:
    async with scene_in(forks, tmp_path) as scene:
        number = await scene.set_by_tool("Remind me of them.", at=next_year())
        (kept,) = (await scene.schedules()).values()
        await scene.services.stop("scheduler")
        due = scene.come_due(number, ONCE, in_s=SOON_S)
        await scene.services.start("scheduler")
        await scene.answered(number, due)

        (delivery,) = await scene.deliveries_of(number)
        told, reply = (await scene.chat.log())[-2:]
        gone = await scene.schedules()

    assert (kept.owner_id, kept.text, kept.at, kept.backed) == (scene.root, TEXT, next_year(), True)
    assert delivery.accept_time.ToDatetime(UTC) >= due
    assert (told.kind, told.text) == (MESSAGE_KIND_WORK, f"[Schedule {number}] {TEXT}")
    assert (reply.kind, reply.text) == (MESSAGE_KIND_REPLY, DONE)
    assert gone == {}


async def test_what_comes_due_while_the_agent_is_away_is_given_when_it_is_back(
    forks: Forks, tmp_path: Path
) -> None:
    """The scheduler is killed meanwhile too, so what it holds is what is on disk."""
    async with scene_in(forks, tmp_path) as scene:
        kinds = {await scene.create(kind): kind for kind in (ONCE, DAILY, ONCE)}
        await scene.services.kill("scheduler")
        await scene.services.kill("agent")
        due = {number: scene.come_due(number, kind) for number, kind in kinds.items()}
        await scene.services.start("scheduler")
        await until(lambda: scene.runs_recorded() == len(kinds))
        waiting = await scene.schedules()
        await scene.services.kill("scheduler")
        await scene.services.start("scheduler", "agent")
        for number, instant in due.items():
            await scene.answered(number, instant)
        given = [await scene.given(number) for number in kinds]
        left = await scene.schedules()

    assert {number: one.next_time.ToDatetime(UTC) for number, one in waiting.items()} == due
    assert [(len(one.deliveries), len(one.logged)) for one in given] == [(1, 1)] * len(kinds)
    assert [kinds[number] for number in left] == [DAILY]


@pytest.mark.soak
async def test_a_childs_schedules_come_to_the_child_and_go_when_it_goes(forks: Forks, tmp_path: Path) -> None:
    """The scheduler is away when the folder is missed, and hears of it later."""
    async with scene_in(forks, tmp_path) as scene:
        services, agents = scene.services, scene.services.data / "agent" / "agents"
        await services.stop("agent")
        agent_folder.make(agents, "House", CHILD, area="what concerns the house")
        await services.start("agent")
        once, daily = [await scene.create(kind, owner=CHILD) for kind in (ONCE, DAILY)]
        roots = await scene.create(DAILY)
        await services.kill("scheduler")
        due = scene.come_due(once, ONCE)
        await services.start("scheduler")
        await scene.answered(once, due)
        came = await scene.deliveries_of(once)
        kept = await scene.schedules()

        await services.kill("scheduler")
        await services.stop("agent")
        shutil.rmtree(agents / "House")
        await services.start("agent")
        await services.start("scheduler")
        async with asyncio.timeout(WITHIN_S):
            while daily in (left := await scene.schedules()):
                await asyncio.sleep(LOOK_S)

    assert [one.agent_id for one in came] == [CHILD]
    assert sorted(kept) == [daily, roots]
    assert list(left) == [roots]


@pytest.mark.soak
async def test_a_run_that_finds_full_disks_at_every_step_is_given_once(forks: Forks, tmp_path: Path) -> None:
    """First nothing can be recorded, then the agent can store nothing, then what was given is not settled."""
    async with scene_in(forks, tmp_path) as scene:
        services, number = scene.services, await scene.create(ONCE)
        await services.kill("scheduler")
        due = scene.come_due(number, ONCE, in_s=TIME_TO_FILL_S)
        await services.start("scheduler")
        services.fill_disk("scheduler")
        await scene.is_full("scheduler")
        recorded = [scene.runs_recorded()]

        services.fill_disk("agent")
        services.free_disk("scheduler")
        await scene.is_full("agent")
        recorded.append(scene.runs_recorded())

        services.fill_disk("scheduler")
        services.free_disk("agent")
        await scene.is_full("scheduler")
        recorded.append(scene.runs_recorded())

        services.free_disk("scheduler")
        await scene.answered(number, due)
        given = await scene.given(number)

    assert recorded == [0, 1, 1]
    assert given.logged == (f"[Schedule N] {TEXT}",)
    assert (len(given.deliveries), given.replies, given.is_kept) == (1, 1, False)


async def test_a_schedule_is_set_once_whoever_is_killed_while_the_root_sets_it(
    forks: Forks, tmp_path: Path
) -> None:
    """The tool is called again with the same key, and the scheduler knows what it has done."""
    async with scene_in(forks, tmp_path) as scene:
        for service, point in SETTING:
            await scene.services.kill(service)
            await scene.services.start(service, point=point)
            setting = asyncio.ensure_future(scene.set_by_tool(f"Remind me, {point.name}.", at=next_year()))
            await scene.services.killed(service)
            await scene.services.start(service)
            await setting
        kept = await scene.schedules()
        refused = scene.model.refusals()

    assert len(kept) == len(SETTING)
    assert refused == []


@pytest.mark.soak
@pytest.mark.timeout(180)
async def test_a_minute_that_really_comes_starts_a_turn_in_that_second(forks: Forks, tmp_path: Path) -> None:
    """Nothing is moved in the store: a single time, and an expression whose next minute it is."""
    zone = ZoneInfo("Europe/Rome")
    async with scene_in(forks, tmp_path) as scene:
        await until(lambda: datetime.now(zone).second < LAST_SECOND, within_s=60)
        due = datetime.now(zone).replace(second=0, microsecond=0) + timedelta(minutes=1)
        once = await scene.set_by_tool("Remind me once.", at=f"{due:%Y-%m-%d %H:%M}")
        daily = await scene.set_by_tool("Remind me daily.", cron=f"{due.minute} {due.hour} * * *")
        for number in (once, daily):
            await scene.answered(number, due.astimezone(UTC), within_s=90)
        came = [await scene.deliveries_of(number) for number in (once, daily)]
        given = [await scene.given(number) for number in (once, daily)]
        left = await scene.schedules()

    late = [one.accept_time.ToDatetime(UTC) - due for (one,) in came]
    assert all(timedelta() <= one < LATE_AT_MOST for one in late), late
    assert [one.logged for one in given] == [(f"[Schedule N] {TEXT}",)] * 2
    assert list(left) == [daily]
    assert left[daily].next_time.ToDatetime(UTC) > due + timedelta(hours=22)


@pytest.mark.soak
@pytest.mark.timeout(180)
async def test_twenty_kills_while_schedules_come_due_give_each_of_them_once(
    forks: Forks, tmp_path: Path
) -> None:
    """At moments that a seed decides; the agent or the memory is killed beside the scheduler at times."""
    rng = random.Random(SEED)
    async with scene_in(forks, tmp_path) as scene:
        kinds = {await scene.create(kind): kind for kind in (*[ONCE] * COMING, *[DAILY] * MISSING)}
        await scene.services.kill("scheduler")
        due = {
            number: scene.come_due(number, kind, in_s=place * BETWEEN_S)
            for place, (number, kind) in enumerate(kinds.items())
        }
        await scene.services.start("scheduler")
        for _ in range(KILLS):
            await asyncio.sleep(rng.uniform(0, 2 * BETWEEN_S * COMING / KILLS))  # chance itself
            struck = ["scheduler", *rng.sample(("agent", "memory"), rng.randrange(2))]
            for name in struck:
                await scene.services.kill(name)
            await scene.services.start(*struck)
        for number, instant in due.items():
            await scene.answered(number, instant)
        came = {number: await scene.deliveries_of(number) for number in kinds}
        told = Counter(one.text.partition("\n")[0] for one in await scene.chat.log())
        left = await scene.schedules()

    assert {number: [one.key for one in some] for number, some in came.items()} == {
        number: [key_of(number, instant)] for number, instant in due.items()
    }
    assert [number for number, (one,) in came.items() if one.accept_time.ToDatetime(UTC) < due[number]] == []
    assert {number: told[f"[Schedule {number}] {TEXT}"] for number in kinds} == dict.fromkeys(kinds, 1)
    assert [kinds[number] for number in left] == [DAILY] * MISSING
