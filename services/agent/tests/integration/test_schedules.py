"""Schedules of agents: who sets, sees and removes which, with whom behind them, and when it needs a yes."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from onechat.agent.v1 import event_pb2

from tests.fakes.agent_house import House, living
from tests.fakes.agent_talk import make_child, says
from tests.fakes.loopback import Loopback
from tests.fakes.memory_server import MemoryServer
from tests.fakes.proposal_talk import command, listed, proposed
from tests.fakes.scheduler_servicer import SchedulerServicer, scheduler_serving
from tests.fakes.scripted_model import Answer, Purpose, ScriptedModel, call

SUM_UP = "Sum up my groups."
DAILY = call("schedule_set", text=SUM_UP, at=None, cron="0 8 * * *")
LIST = call("schedule_list")
OPEN = event_pb2.PROPOSAL_STATE_OPEN


@pytest.fixture
def scheduler() -> SchedulerServicer:
    return SchedulerServicer()


@pytest.fixture
async def there(scheduler: SchedulerServicer) -> AsyncIterator[Loopback]:
    """Where the scheduler listens."""
    async with scheduler_serving(scheduler) as loopback:
        yield loopback


def remove(number: Any) -> Any:
    return call("schedule_remove", id=number)


async def echoes(house: House, of: str = "") -> list[str]:
    """What tools gave back to an agent, oldest first."""
    return [line.removeprefix("echo: ") for line in await house.lines(of) if line.startswith("echo: ")]


def kept(scheduler: SchedulerServicer) -> list[tuple[str, bool]]:
    """(owner, backed) of each schedule."""
    return [(one.owner_id, one.backed) for one in scheduler.schedules.values()]


async def test_what_the_user_wants_at_a_time_is_set_listed_and_removed(
    tmp_path: Path,
    memory: MemoryServer,
    model: ScriptedModel,
    scheduler: SchedulerServicer,
    there: Loopback,
) -> None:
    async with living(tmp_path, memory, model, scheduler=there) as house:
        model.say(Answer(calls=(DAILY,)), Answer(calls=(LIST,)), "set")
        await house.say("each day at eight, sum up my groups")
        assert kept(scheduler) == [(house.seat.id, True)]
        assert scheduler.schedules[1].text == SUM_UP

        model.say(Answer(calls=(remove(1),)), "removed")
        await house.say("no more of that")

        told, row, gone = await echoes(house)
        assert told.startswith("Schedule 1 is set: 0 8 * * *, in Europe/Rome. Its next runs: ")
        assert told.count(" 08:00") == 3
        assert row.endswith(f" 08:00 | 0 8 * * * | {SUM_UP}")
        assert gone == "Schedule 1 is removed."
        assert scheduler.schedules == {}


async def test_each_agent_sees_and_removes_its_own_alone(
    tmp_path: Path,
    memory: MemoryServer,
    model: ScriptedModel,
    scheduler: SchedulerServicer,
    there: Loopback,
) -> None:
    async with living(tmp_path, memory, model, scheduler=there) as house:
        await make_child(house, "House")
        says(house, "", call("tell", name="House", message="each day at eight, air the rooms"), "told", "")
        says(house, "House", DAILY, "I shall")
        await house.say("let House air the rooms each day")
        await house.logged("work: [House] I shall")
        says(house, "", LIST, remove(1), "nothing")
        await house.say("what is set?")

        assert kept(scheduler) == [(house.id_of("House"), True)]
        assert (await echoes(house))[-2:] == [
            "You have no schedules.",
            "You have no schedule 1; schedule_list shows yours.",
        ]


async def test_a_subagent_has_no_schedules_and_its_head_does_not_speak_of_them(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", call("spawn", tasks=["count"], effort=None), "at work", "", "and House")
        says(house, "One-1", DAILY, "counted")
        says(house, "House", "")
        await house.say("use one")
        await house.logged("work: [One-1] counted")
        await house.say("look", to=house.id_of("House"))

        bodies = [record.body for record in model.requests(Purpose.TURN)]
        tools = {body["instructions"].split(",")[0]: [t["name"] for t in body["tools"]] for body in bodies}
        own = ["schedule_set", "schedule_list", "schedule_remove"]
        assert tools["You are One"][-3:] == tools["You are House"][-3:] == own
        assert not set(own) & set(tools["You are One-1"])
        said = {body["instructions"].split(",")[0]: body["instructions"] for body in bodies}
        assert "one of your own schedules" in said["You are One"]
        assert "one of your own schedules" in said["You are House"]
        assert "schedule" not in said["You are One-1"]
        assert (await echoes(house, "One-1"))[0].startswith("There is no tool schedule_set.")


@pytest.mark.parametrize("before", [call("shell", command="echo hi"), call("read", path="note.txt")])
async def test_what_is_set_after_text_from_outside_came_in_has_runs_that_are_not_backed(
    tmp_path: Path,
    memory: MemoryServer,
    model: ScriptedModel,
    scheduler: SchedulerServicer,
    there: Loopback,
    before: Any,
) -> None:
    async with living(tmp_path, memory, model, scheduler=there) as house:
        (tmp_path / "workspace" / "note.txt").write_text("hi")
        model.say(Answer(calls=(before,)), Answer(calls=(DAILY,)), "set")
        await house.say("look, and then remind me each day")

        assert kept(scheduler) == [(house.seat.id, False)]
        assert "will not count as the user's own word" in (await echoes(house))[1]


async def test_of_a_batch_a_schedule_is_set_unbacked_and_a_removal_awaits_a_yes(
    tmp_path: Path,
    memory: MemoryServer,
    model: ScriptedModel,
    scheduler: SchedulerServicer,
    there: Loopback,
) -> None:
    async with living(tmp_path, memory, model, scheduler=there) as house:
        model.say(Answer(calls=(DAILY,)), "set")
        await house.say("each day at eight, sum up my groups")
        await proposed(house, model, DAILY, remove(1))

        assert kept(scheduler) == [(house.seat.id, True), (house.seat.id, False)]
        (proposal,) = await listed(house)
        assert (proposal.tool, proposal.arguments, proposal.state) == ("schedule_remove", '{"id": 1}', OPEN)
        assert scheduler.calls["DeleteSchedule"] == 0

        model.say("it is gone")
        said = await command(house, "/yes 1")

        assert said == (
            "Proposal 1 of One (schedule_remove) was run with your yes.\n| Schedule 1 is removed."
        )
        assert list(scheduler.schedules) == [2]


async def test_a_list_with_what_others_may_have_had_set_taints_the_turn(
    tmp_path: Path,
    memory: MemoryServer,
    model: ScriptedModel,
    scheduler: SchedulerServicer,
    there: Loopback,
) -> None:
    """What a batch had set reads like the agent's own words, and an order in it must not be obeyed."""
    async with living(tmp_path, memory, model, scheduler=there) as house:
        model.say(Answer(calls=(DAILY,)), Answer(calls=(LIST,)), Answer(calls=(remove(1),)), "gone")
        await house.say("set it, and take it back")
        assert scheduler.schedules == {}
        await proposed(house, model, DAILY)

        model.say(Answer(calls=(LIST,)), Answer(calls=(remove(2),)), "I have asked")
        await house.say("take that back, too")

        assert [one.state for one in await listed(house)] == [OPEN]
        assert list(scheduler.schedules) == [2]


async def test_a_list_that_a_restart_has_cut_off_from_its_turn_taints_it(
    tmp_path: Path,
    memory: MemoryServer,
    model: ScriptedModel,
    scheduler: SchedulerServicer,
    there: Loopback,
) -> None:
    """The log holds the list, and not who had its schedules set."""
    async with living(tmp_path, memory, model, scheduler=there) as house:
        await proposed(house, model, DAILY)
        model.say(Answer(calls=(LIST,)))
        gate = model.hold(answer=Answer(text="never sent"))
        key = await house.deliver("take it back")
        await gate.reached()
    gate.open()
    model.clear()
    model.say(Answer(calls=(remove(1),)), "I have asked")

    async with living(tmp_path, memory, model, scheduler=there, after=0) as house:
        await house.ended(key)

        assert [one.state for one in await listed(house)] == [OPEN]
        assert list(scheduler.schedules) == [1]


@pytest.mark.parametrize(("wrote", "taken"), [(1, True), (1.0, True), ("1", False), (1.5, False)])
async def test_an_id_is_a_whole_number(
    tmp_path: Path,
    memory: MemoryServer,
    model: ScriptedModel,
    scheduler: SchedulerServicer,
    there: Loopback,
    wrote: Any,
    taken: bool,
) -> None:
    async with living(tmp_path, memory, model, scheduler=there) as house:
        model.say(Answer(calls=(DAILY,)), Answer(calls=(remove(wrote),)), "done")
        await house.say("set it, and take it back")

        assert (scheduler.schedules == {}) is taken
        said = (await echoes(house))[1]
        assert said == "Schedule 1 is removed." if taken else "`id` must be an integer" in said


@pytest.mark.parametrize("number", [0, -1, 2**63, 10**30])
async def test_an_id_beyond_all_that_there_can_be_is_one_that_is_not_there(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, there: Loopback, number: int
) -> None:
    async with living(tmp_path, memory, model, scheduler=there) as house:
        model.say(Answer(calls=(remove(number),)), "done")
        await house.say("take it back")

        assert await echoes(house) == [f"You have no schedule {number}; schedule_list shows yours."]


async def test_what_the_scheduler_refuses_is_one_line_and_the_turn_goes_on(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, there: Loopback
) -> None:
    async with living(tmp_path, memory, model, scheduler=there) as house:
        wrong = [
            call("schedule_set", text=SUM_UP, at=None, cron="@daily"),
            call("schedule_set", text=SUM_UP, at="2020-01-01 08:00", cron=None),
            call("schedule_set", text="x" * 30_000, at=None, cron="0 8 * * *"),
            call("schedule_set", text=" ", at=None, cron="0 8 * * *"),
        ]
        model.say(Answer(calls=tuple(wrong)), "not set")
        await house.say("try")

        said = await echoes(house)
        assert all(line.startswith("Nothing was set. ") and "\n" not in line for line in said)
        assert len(said) == len(wrong)
        assert house.seen.replies() == ["not set"]


async def test_a_scheduler_that_is_away_is_one_line_and_the_turn_goes_on(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        model.say(Answer(calls=(DAILY, LIST, remove(1))), "it is away")
        await house.say("each day at eight, sum up my groups")

        said = await echoes(house)
        assert len(said) == 3
        assert all(one.startswith("The scheduler service could not be reached: ") for one in said)
        assert all("\n" not in one for one in said)
        assert house.seen.replies() == ["it is away"]


async def test_a_schedule_whose_answer_a_restart_has_cut_off_is_set_once_and_answered(
    tmp_path: Path,
    memory: MemoryServer,
    model: ScriptedModel,
    scheduler: SchedulerServicer,
    there: Loopback,
) -> None:
    held = scheduler.hold("CreateSchedule", when="after")
    async with living(tmp_path, memory, model, scheduler=there) as house:
        model.say(Answer(calls=(DAILY,)))
        key = await house.deliver("each day at eight, sum up my groups")
        await held.reached.wait()
    held.released.set()
    model.say("set")

    async with living(tmp_path, memory, model, scheduler=there, after=0) as house:
        await house.ended(key)

        assert kept(scheduler) == [(house.seat.id, True)]
        assert (await echoes(house))[0].startswith("Schedule 1 is set: ")
        assert scheduler.calls["CreateSchedule"] == 2


async def test_one_that_was_backed_stays_so_though_the_turn_counts_as_tainted_after_a_restart(
    tmp_path: Path,
    memory: MemoryServer,
    model: ScriptedModel,
    scheduler: SchedulerServicer,
    there: Loopback,
) -> None:
    """Nobody knows then whether a zoom before it had shown text from outside, and the call is the same."""
    held = scheduler.hold("CreateSchedule", when="after")
    async with living(tmp_path, memory, model, scheduler=there) as house:
        model.say(Answer(calls=(call("zoom", id=0, n=1, name=None, page=None),)), Answer(calls=(DAILY,)))
        key = await house.deliver("each day at eight, sum up my groups")
        await held.reached.wait()
    held.released.set()
    model.say("set")

    async with living(tmp_path, memory, model, scheduler=there, after=0) as house:
        await house.ended(key)

        assert kept(scheduler) == [(house.seat.id, True)]
        said = (await echoes(house))[-1]
        assert said.startswith("Schedule 1 is set: ")
        assert "own word" not in said


async def test_a_removal_whose_answer_a_restart_has_cut_off_is_answered_as_done(
    tmp_path: Path,
    memory: MemoryServer,
    model: ScriptedModel,
    scheduler: SchedulerServicer,
    there: Loopback,
) -> None:
    held = scheduler.hold("DeleteSchedule", when="after")
    async with living(tmp_path, memory, model, scheduler=there) as house:
        model.say(Answer(calls=(DAILY,)), Answer(calls=(remove(1),)))
        key = await house.deliver("set it, and take it back")
        await held.reached.wait()
    held.released.set()
    model.say("gone")

    async with living(tmp_path, memory, model, scheduler=there, after=0) as house:
        await house.ended(key)

        assert (await echoes(house))[-1] == "Schedule 1 is removed."
        assert scheduler.schedules == {}


async def test_more_schedules_than_a_page_of_the_scheduler_holds_are_listed_all(
    tmp_path: Path,
    memory: MemoryServer,
    model: ScriptedModel,
    scheduler: SchedulerServicer,
    there: Loopback,
) -> None:
    async with living(tmp_path, memory, model, scheduler=there) as house:
        model.say(Answer(calls=(DAILY,)), "set")
        await house.say("each day")
        first = scheduler.schedules[1]
        for number in range(2, 1_206):
            scheduler.schedules[number] = type(first)()
            scheduler.schedules[number].CopyFrom(first)
            scheduler.schedules[number].schedule_id = number
        model.say(Answer(calls=(LIST,)), "many")
        await house.say("which?")

        said = (await echoes(house))[-1]
        assert said.count(SUM_UP) > 100
        assert "\n1205 | " in said
        assert scheduler.calls["ListSchedules"] == 2
