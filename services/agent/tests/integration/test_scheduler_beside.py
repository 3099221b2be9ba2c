"""The agent and the real scheduler side by side: what is set by a tool comes back at its time, once."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
import pytest
from onechat_runtime.errors import RemoteError
from onechat_scheduler.adapters.agent import Agent
from onechat_scheduler.domain.schedule import Run

from tests.fakes.agent_house import House, living
from tests.fakes.agent_talk import make_child, says
from tests.fakes.child_folders import take_house_away, until
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scheduler_server import MORNING, SchedulerServer, scheduling
from tests.fakes.scripted_model import Answer, ScriptedModel, call

SOON = call("schedule_set", text="Water the plants.", at="2027-01-15 09:05", cron=None)  # MORNING is at nine
DAILY = call("schedule_set", text="Water the plants.", at=None, cron="30 2 * * *")
FIVE_MINUTES_S = 300.0
HOUR_S = 3_600.0


class WayHome:
    """The agent service for a scheduler that is up before it: away until there is a house."""

    house: House | None = None

    async def deliver(self, runs: Sequence[Run]) -> None:
        if self.house is None:
            raise RemoteError(grpc.StatusCode.UNAVAILABLE, "nobody there")
        await Agent(self.house.loopback.channel("scheduler")).deliver(runs)


async def echoes(house: House) -> list[str]:
    return [line.removeprefix("echo: ") for line in await house.lines() if line.startswith("echo: ")]


async def none_left(scheduler: SchedulerServer, owner: str) -> None:
    """Returns once the owner has no schedules."""

    async def is_empty() -> bool:
        return await scheduler.ids(owner=owner) == []

    await until(is_empty)


async def test_what_the_root_sets_comes_back_at_its_time_and_is_gone_then(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    way = WayHome()
    async with (
        scheduling(tmp_path / "scheduler", wakes=way) as scheduler,
        living(tmp_path, memory, model, scheduler=scheduler.loopback) as house,
    ):
        way.house = house
        model.say(Answer(calls=(SOON,)), "set", "The plants want water.")
        await house.say("in five minutes, the plants")
        await scheduler.until_waiting_for(MORNING + timedelta(seconds=FIVE_MINUTES_S))

        scheduler.alarm.advance(FIVE_MINUTES_S)
        await house.ended("schedule:1:2027-01-15T08:05Z")

        assert await echoes(house) == [
            "Schedule 1 is set. It runs once: Fri 2027-01-15 09:05, in Europe/Rome."
        ]
        assert (await house.lines())[-2:] == [
            "work: [Schedule 1] Water the plants.",
            "reply: The plants want water.",
        ]
        await none_left(scheduler, house.seat.id)


async def test_a_run_that_was_due_while_the_agent_was_away_comes_late_and_says_so(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    way = WayHome()
    async with (
        scheduling(tmp_path / "scheduler", wakes=way) as scheduler,
        living(tmp_path, memory, model, scheduler=scheduler.loopback) as house,
    ):
        model.say(Answer(calls=(SOON,)), "set")
        await house.say("in five minutes, the plants")
    later = MORNING + timedelta(seconds=HOUR_S)
    async with scheduling(tmp_path / "scheduler", now=later, wakes=way) as scheduler:
        await scheduler.alarm.clock.until_sleeping()  # it has tried, and waits to try again
        model.say("The plants want water.")
        async with living(tmp_path, memory, model, scheduler=scheduler.loopback) as house:
            way.house = house
            scheduler.alarm.advance(HOUR_S)
            await house.ended("schedule:1:2027-01-15T08:05Z")

            told = (await house.lines())[-2]
            assert told.startswith("work: [Schedule 1] Water the plants.\n(")
            assert "late" in told
            await none_left(scheduler, house.seat.id)


async def test_a_child_that_was_taken_away_leaves_none_in_the_real_scheduler_either(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with scheduling(tmp_path / "scheduler") as scheduler:
        async with living(tmp_path, memory, model, scheduler=scheduler.loopback) as house:
            child = await make_child(house, "House")
            says(house, "House", SOON, "set")
            says(house, "", "fine")
            await house.say("the plants, in five minutes", to=child)
            assert await scheduler.ids(owner=child) == [1]
        take_house_away(tmp_path)

        async with living(tmp_path, memory, model, scheduler=scheduler.loopback):
            await none_left(scheduler, child)


async def test_a_clock_change_among_the_next_runs_is_told(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """At half past two on the night in which two o'clock is three."""
    friday = datetime(2027, 3, 26, 8, tzinfo=UTC)
    async with (
        scheduling(tmp_path / "scheduler", now=friday) as scheduler,
        living(tmp_path, memory, model, scheduler=scheduler.loopback) as house,
    ):
        model.say(Answer(calls=(DAILY,)), "set")
        await house.say("each night at half past two")

        first, remark = (await echoes(house))[0].splitlines()
        assert first == (
            "Schedule 1 is set: 30 2 * * *, in Europe/Rome. Its next runs: Sat 2027-03-27 02:30, "
            "Sun 2027-03-28 03:00, Mon 2027-03-29 02:30."
        )
        assert "2027-03-28" in remark


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ({"at": "2027-01-15 08:00", "cron": None}, "past"),
        ({"at": "01-20 08:00", "cron": None}, "2027-01-20 08:00"),
        ({"at": "2027-03-28 02:30", "cron": None}, "03:00"),
        ({"at": None, "cron": "@daily"}, "0 0 * * *"),
        ({"at": None, "cron": "*/2 * * * *"}, "5 minutes"),
        ({"at": None, "cron": "0 9 30 2 *"}, "never"),
    ],
    ids=str,
)
async def test_what_cannot_be_set_is_one_line_that_helps(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, when: dict[str, str | None], said: str
) -> None:
    async with (
        scheduling(tmp_path / "scheduler") as scheduler,
        living(tmp_path, memory, model, scheduler=scheduler.loopback) as house,
    ):
        model.say(Answer(calls=(call("schedule_set", text="Water.", **when),)), "not set")
        await house.say("try")

        (told,) = await echoes(house)
        assert told.startswith("Nothing was set. ")
        assert "\n" not in told
        assert said in told
