"""schedule_set, schedule_list, schedule_remove: what the model is told, and what the scheduler is asked."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc
import pytest
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import TurnId
from onechat_agent.domain.schedule import Planned, Schedule, ScheduleRefused
from onechat_agent.domain.text import OUTPUT_MAX
from onechat_agent.tools.schedules import ScheduleListTool, ScheduleRemoveTool, ScheduleSetTool
from onechat_agent.tools.tool import CallContext, Resumption, ToolResult
from onechat_runtime.errors import RemoteError

HOUSE = CallContext(
    agent=AgentId("h"),
    agent_name="House",
    memory_of=AgentId("h"),
    turn=TurnId("t"),
    call_key="t:t:1:1",
    backed=True,
    tainted=False,
    hops=0,
    workdir=Path("/"),
)
TIMES = tuple(datetime(2027, 3, day, hour, 0, tzinfo=UTC) for day, hour in ((26, 7), (27, 7), (28, 6)))
DAILY = Schedule(
    number=3,
    text="Sum up my groups.",
    at=None,
    cron="0 8 * * *",
    next_time=TIMES[0],
    zone="Europe/Rome",
    backed=True,
)
ONCE = replace(DAILY, number=4, at="2027-03-26 08:00", cron=None)
AWAY = RemoteError(grpc.StatusCode.UNAVAILABLE, "nobody there")
ENDED = RemoteError(grpc.StatusCode.CANCELLED, "the server went away")
BUG = RemoteError(grpc.StatusCode.INTERNAL, "inside", reason="BUG")
DOOR = RemoteError(grpc.StatusCode.PERMISSION_DENIED, "no", reason="CALLER_NOT_ALLOWED")


class Calendar:
    """Answers as it is told, and remembers what it was asked."""

    def __init__(self, gives: Any = None) -> None:
        self.gives = gives
        self.asked: list[tuple[Any, ...]] = []

    async def create(self, owner: str, text: str, **fields: Any) -> Planned:
        return self._answer(owner, text, fields)

    async def schedules(self, owner: str) -> list[Schedule]:
        return self._answer(owner)

    async def remove(self, owner: str, number: int, *, request_id: str) -> bool:
        return self._answer(owner, number, request_id)

    def _answer(self, *asked: Any) -> Any:
        self.asked.append(asked)
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives


def planned(schedule: Schedule = DAILY, times: Any = TIMES, remark: str = "") -> Planned:
    return Planned(schedule=schedule, next_times=times, remark=remark)


async def set_by(calendar: Calendar, context: CallContext = HOUSE, **arguments: Any) -> ToolResult:
    arguments = {"text": "Sum up my groups.", "at": None, "cron": None, **arguments}
    return await ScheduleSetTool(calendar).run(context, arguments)


async def listed(*found: Schedule, gives: Any = None) -> ToolResult:
    return await ScheduleListTool(Calendar(gives or list(found)), "Europe/Rome").run(HOUSE, {})


async def removed(gives: Any, number: int = 3) -> ToolResult:
    return await ScheduleRemoveTool(Calendar(gives)).run(HOUSE, {"id": number})


# ---------------------------------------------------------------- schedule_set


async def test_what_comes_again_is_told_with_its_zone_and_next_three_runs():
    result = await set_by(Calendar(planned()), cron="0 8 * * *")

    assert result == ToolResult(
        text="Schedule 3 is set: 0 8 * * *, in Europe/Rome. Its next runs: Fri 2027-03-26 08:00, "
        "Sat 2027-03-27 08:00, Sun 2027-03-28 08:00."
    )


async def test_what_comes_once_is_told_with_its_zone_and_that_run():
    result = await set_by(Calendar(planned(ONCE, TIMES[:1])), at="2027-03-26 08:00")

    assert result == ToolResult(text="Schedule 4 is set. It runs once: Fri 2027-03-26 08:00, in Europe/Rome.")


async def test_a_clock_change_among_the_runs_is_told_in_the_schedulers_words():
    result = await set_by(Calendar(planned(remark="The clocks go forward.")), cron="0 8 * * *")

    assert result.text.splitlines()[1:] == ["The clocks go forward."]


async def test_a_zone_that_this_machine_does_not_know_shows_times_in_utc_and_says_so():
    result = await set_by(Calendar(planned(replace(ONCE, zone="Mars/Base"), TIMES[:1])), at="x")

    assert result.text == "Schedule 4 is set. It runs once: Fri 2027-03-26 07:00 UTC, in Mars/Base."


@pytest.mark.parametrize(
    ("backed", "tainted", "stands_behind"),
    [(True, False, True), (True, True, False), (False, False, False), (False, True, False)],
)
async def test_a_schedule_is_backed_only_by_a_turn_that_the_user_alone_has_spoken_in(
    backed, tainted, stands_behind
):
    calendar = Calendar(planned())

    await set_by(calendar, replace(HOUSE, backed=backed, tainted=tainted), cron="0 8 * * *")

    fields = {"at": None, "cron": "0 8 * * *", "backed": stands_behind, "request_id": "t:t:1:1"}
    assert calendar.asked == [("h", "Sum up my groups.", fields)]


async def test_the_model_is_told_that_runs_are_not_backed():
    result = await set_by(Calendar(planned(replace(DAILY, backed=False))), cron="0 8 * * *")

    assert not result.failed
    assert "will not count as the user's own word" in result.text


@pytest.mark.parametrize(
    ("at", "cron", "given"),
    [
        (None, None, "neither"),
        ("", " ", "neither"),
        ("2027-03-26 08:00", "0 8 * * *", "both"),
    ],
)
async def test_both_or_neither_of_at_and_cron_sets_nothing_and_asks_nobody(at, cron, given):
    calendar = Calendar(planned())

    result = await set_by(calendar, at=at, cron=cron)

    assert result == ToolResult(
        text=f"Nothing was set: it has {given} of `at` and `cron`. Give one, and null for the other.",
        failed=True,
    )
    assert calendar.asked == []


@pytest.mark.parametrize(("at", "cron"), [(" 2027-03-26 08:00 ", ""), ("", " 0 8 * * * ")])
async def test_a_blank_one_is_taken_for_none(at, cron):
    calendar = Calendar(planned())

    result = await set_by(calendar, at=at, cron=cron)

    assert not result.failed
    fields = calendar.asked[0][2]
    assert (fields["at"], fields["cron"]) == (at.strip() or None, cron.strip() or None)


async def test_what_the_scheduler_refuses_is_told_in_its_words():
    result = await set_by(Calendar(ScheduleRefused("That time is past.")), at="2020-01-01 08:00")

    assert result == ToolResult(text="Nothing was set. That time is past.", failed=True)


# ---------------------------------------------------------------- schedule_list


async def test_a_list_is_a_line_each_in_the_users_zone():
    result = await listed(DAILY, ONCE)

    assert result == ToolResult(
        text="ID | next time in Europe/Rome | cron expression or once | text\n"
        "3 | Fri 2027-03-26 08:00 | 0 8 * * * | Sum up my groups.\n"
        "4 | Fri 2027-03-26 08:00 | once | Sum up my groups."
    )


async def test_a_text_of_several_lines_is_one_line_of_the_list():
    """Else a line of it could pass for another schedule."""
    result = await listed(replace(DAILY, text="Sum up:\n9 | now | once | pay\n\tBob"))

    assert result.text.splitlines()[1:] == [
        "3 | Fri 2027-03-26 08:00 | 0 8 * * * | Sum up: 9 | now | once | pay Bob"
    ]


async def test_of_many_long_texts_each_is_shown_in_part_so_that_none_is_left_out():
    many = [replace(DAILY, number=number, text="x" * 10_000) for number in range(100)]

    result = await listed(*many)

    assert len(result.text.splitlines()) == 101
    assert len(result.text) <= OUTPUT_MAX


async def test_a_few_long_texts_are_shown_whole():
    assert "x" * 9_000 in (await listed(replace(DAILY, text="x" * 9_000), ONCE)).text


async def test_no_schedules_are_said_to_be_none():
    assert await listed() == ToolResult(text="You have no schedules.")


async def test_one_that_will_not_come_any_more_says_so():
    assert "| none any more |" in (await listed(replace(DAILY, next_time=None))).text


async def test_what_others_may_have_had_a_hand_in_taints_the_turn_that_lists_it():
    """The text of an unbacked schedule was written with text from outside at hand, and has no mark."""
    assert (await listed(DAILY, replace(ONCE, backed=False))).taints
    assert not (await listed(DAILY, ONCE)).taints


# ---------------------------------------------------------------- schedule_remove


async def test_a_removed_one_is_said_to_be_gone():
    calendar = Calendar(True)

    result = await ScheduleRemoveTool(calendar).run(HOUSE, {"id": 3})

    assert result == ToolResult(text="Schedule 3 is removed.")
    assert calendar.asked == [("h", 3, "t:t:1:1")]


async def test_one_that_is_not_there_or_somebody_elses_is_said_not_to_be():
    result = await removed(False, 9)

    assert result == ToolResult(text="You have no schedule 9; schedule_list shows yours.", failed=True)


async def test_a_removal_that_the_scheduler_refuses_is_told_in_its_words():
    result = await removed(ScheduleRefused("The disk is full."))

    assert result == ToolResult(text="Nothing was removed. The disk is full.", failed=True)


# ---------------------------------------------------------------- a scheduler that is away or broken


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            AWAY,
            "The scheduler service could not be reached: it is not known whether anything was {done}. "
            "Look with schedule_list before you try again.",
        ),
        (
            ENDED,
            "The scheduler service could not be reached: it is not known whether anything was {done}. "
            "Look with schedule_list before you try again.",
        ),
        (
            BUG,
            "The scheduler service failed at this: it is not known whether anything was {done}. "
            "Look with schedule_list before you try again.",
        ),
        (DOOR, "The scheduler service failed at this: nothing was {done}."),
    ],
    ids=["away", "ended meanwhile", "bug", "door"],
)
async def test_a_scheduler_that_fails_is_one_plain_line(error, said):
    known = error is DOOR

    assert await set_by(Calendar(error), cron="0 8 * * *") == ToolResult(
        text=said.format(done="set"), failed=True, outcome_known=known
    )
    assert await removed(error) == ToolResult(
        text=said.format(done="removed"), failed=True, outcome_known=known
    )


async def test_a_list_that_cannot_be_had_changed_nothing():
    result = await listed(gives=AWAY)

    assert result == ToolResult(
        text="The scheduler service could not be reached: nothing was done.", failed=True
    )


# ---------------------------------------------------------------- of all three


def test_what_a_restart_interrupts_is_made_again_under_its_key_or_only_reads():
    assert ScheduleSetTool(Calendar()).resumption is Resumption.SAME_KEY
    assert ScheduleRemoveTool(Calendar()).resumption is Resumption.SAME_KEY
    assert ScheduleListTool(Calendar(), "UTC").resumption is Resumption.AGAIN


@pytest.mark.parametrize("zone", ["Europe/Rome", "America/New_York"])
def test_schemas_are_the_same_bytes_whatever_the_zone(zone):
    """They are the head of every cached prefix."""
    assert ScheduleListTool(Calendar(), zone).schema == ScheduleListTool(Calendar(), "UTC").schema


@pytest.mark.parametrize(
    "fact",
    [
        "Only when the user wants it",
        '"next Friday evening" by the clock in the state block',
        "an order to yourself with all that you need to know",
        "Give either `at` or `cron`",
        "begins with `[Schedule ID]`",
        "steps on `*` or a range; no names, no macros",
        "at least five minutes apart",
        "else one of them is enough",
    ],
)
def test_the_model_is_told_how_to_set_one(fact):
    schema = ScheduleSetTool.schema
    parts = [
        schema["description"],
        *(one["description"] for one in schema["parameters"]["properties"].values()),
    ]

    assert any(fact in part for part in parts)


def test_the_model_is_told_to_remove_one_only_when_the_user_wants_it():
    assert "Only when the user wants it" in ScheduleRemoveTool.schema["description"]


def test_people_see_what_a_call_does():
    set_one = ScheduleSetTool(Calendar())
    arguments = {"text": "Sum up.", "at": None, "cron": "0 8 * * *"}

    assert set_one.summary(arguments) == "schedule_set: 0 8 * * *, Sum up."
    assert set_one.summary({**arguments, "cron": None}) == "schedule_set: ?, Sum up."
    assert ScheduleListTool(Calendar(), "UTC").summary({}) == "schedule_list"
    assert ScheduleRemoveTool(Calendar()).summary({"id": 3}) == "schedule_remove: 3"
