"""Schedules at the service's door: set, listed, removed, previewed; what is refused, and with which words."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from onechat_runtime.errors import RemoteError
from onechat_scheduler.servicer import DESCRIPTOR

from tests.fakes.scheduler_server import MORNING, SchedulerServer, scheduling
from tests.fakes.service_process import refusals

PLANTS = "Water the plants"


@pytest.fixture
async def scheduler(tmp_path: Path) -> AsyncIterator[SchedulerServer]:
    async with scheduling(tmp_path) as running:
        yield running


def instants(times: Any) -> list[str]:
    """Times of an answer, in UTC."""
    return [f"{time.ToDatetime():%Y-%m-%dT%H:%MZ}" for time in times]


def stamp(instant: datetime) -> Timestamp:
    made = Timestamp()
    made.FromDatetime(instant)
    return made


# ---------------------------------------------------------------- setting


async def test_an_expression_is_set_with_its_zone_and_its_next_three_runs(scheduler):
    answer = await scheduler.create(PLANTS, cron=" 0  18 * * 5 ", backed=True)

    schedule = answer.schedule
    assert (schedule.schedule_id, schedule.owner_id, schedule.text) == (1, "ann", PLANTS)
    assert (schedule.WhichOneof("when"), schedule.cron) == ("cron", "0 18 * * 5")
    assert (schedule.zone, schedule.backed) == ("Europe/Rome", True)
    assert instants(answer.next_times) == ["2027-01-15T17:00Z", "2027-01-22T17:00Z", "2027-01-29T17:00Z"]
    assert instants([schedule.next_time]) == ["2027-01-15T17:00Z"]
    assert answer.remark == ""
    assert list((await scheduler.listed()).schedules) == [schedule]


async def test_a_single_time_is_set_with_its_one_run(scheduler):
    answer = await scheduler.create(PLANTS, at="2027-07-01 18:00")

    assert (answer.schedule.WhichOneof("when"), answer.schedule.at) == ("at", "2027-07-01 18:00")
    assert instants(answer.next_times) == ["2027-07-01T16:00Z"]
    assert not answer.schedule.backed


async def test_a_change_of_the_clocks_among_the_next_runs_is_told(tmp_path):
    async with scheduling(tmp_path, now=datetime(2027, 3, 26, 12, tzinfo=UTC)) as scheduler:
        answer = await scheduler.create(cron="0 8 * * *")
        preview = await scheduler.preview(cron="0 8 * * *")

    assert instants(answer.next_times) == ["2027-03-27T07:00Z", "2027-03-28T06:00Z", "2027-03-29T06:00Z"]
    assert answer.remark == "The clocks go forward 1 hour on Sunday 2027-03-28: 02:00 becomes 03:00."
    assert preview.remark == answer.remark


async def test_a_time_that_comes_twice_is_its_first(tmp_path):
    async with scheduling(tmp_path, now=datetime(2027, 10, 30, 12, tzinfo=UTC)) as scheduler:
        answer = await scheduler.create(at="2027-10-31 02:30")

    assert instants(answer.next_times) == ["2027-10-31T00:30Z"]
    assert answer.schedule.at == "2027-10-31 02:30"


async def test_the_same_request_sets_one_schedule_and_answers_alike_even_once_its_time_is_past(scheduler):
    """The answer may have been lost, and the agent asks again after a start."""
    asked = {"at": "2027-01-15 09:05", "request_id": "call 1"}
    first = await scheduler.create(**asked)
    scheduler.alarm.advance(3_600)

    again = await scheduler.create(**asked)

    assert again == first
    with pytest.raises(RemoteError) as refused:
        await scheduler.create("Something else", **asked)
    assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.ALREADY_EXISTS, "KEY_REUSED")


async def test_a_refused_request_may_come_again_under_its_id_once_it_is_right(scheduler):
    with pytest.raises(RemoteError):
        await scheduler.create(cron="0 9 30 2 *", request_id="call 1")

    assert (await scheduler.create(cron="0 9 28 2 *", request_id="call 1")).schedule.schedule_id == 1


async def test_requests_without_an_id_are_each_their_own(scheduler):
    made = [await scheduler.create(cron="0 8 * * *") for _ in range(2)]

    assert [answer.schedule.schedule_id for answer in made] == [1, 2]


REFUSED = [
    pytest.param({}, "TIME_INVALID", "Say when: at as YYYY-MM-DD HH:MM", id="neither at nor cron"),
    pytest.param({"at": ""}, "TIME_INVALID", "", id="an empty time"),
    pytest.param({"at": "2027-01-15 08:55"}, "TIME_INVALID", "2027-01-15 08:55", id="five minutes ago"),
    pytest.param({"at": "01-20 08:00"}, "TIME_INVALID", "has no year: write 2027-01-20 08:00", id="no year"),
    pytest.param({"at": "2027-03-28 02:30"}, "TIME_INVALID", "2027-03-28 03:00", id="in a gap"),
    pytest.param({"at": "tomorrow"}, "TIME_INVALID", "YYYY-MM-DD HH:MM", id="words"),
    pytest.param({"cron": ""}, "CRON_INVALID", "five fields", id="an empty expression"),
    pytest.param({"cron": "0 0 9 * * *"}, "CRON_INVALID", "0 9 * * *", id="six fields"),
    pytest.param({"cron": "0 9 30 2 *"}, "CRON_INVALID", "", id="30 February"),
    pytest.param({"cron": "0 9 * * sat-mon"}, "CRON_INVALID", "", id="names"),
    pytest.param({"cron": "@daily"}, "CRON_INVALID", "0 0 * * *", id="a macro"),
    pytest.param({"cron": "* * * * *"}, "CRON_INVALID", "5 minutes", id="every minute"),
    pytest.param({"cron": "*" * 10_000}, "CRON_INVALID", "", id="a long expression"),
]


@pytest.mark.parametrize(("when", "reason", "says"), REFUSED)
async def test_a_time_that_cannot_be_is_refused_in_a_line_that_helps(scheduler, when, reason, says):
    with pytest.raises(RemoteError) as created:
        await scheduler.create(**when)
    with pytest.raises(RemoteError) as previewed:
        await scheduler.preview(**when)

    assert (created.value.code, created.value.reason) == (grpc.StatusCode.INVALID_ARGUMENT, reason)
    assert says in created.value.message
    assert "\n" not in created.value.message
    assert len(created.value.message) < 400
    assert (previewed.value.reason, previewed.value.message) == (reason, created.value.message)
    assert await scheduler.ids() == []


@pytest.mark.parametrize(
    ("text", "says"),
    [("", "The text is empty"), (" \n\u200b", "The text is empty"), ("x" * 30_000, "has 30,000 characters")],
)
async def test_a_text_that_says_nothing_or_too_much_is_refused(scheduler, text, says):
    with pytest.raises(RemoteError) as refused:
        await scheduler.create(text, cron="0 8 * * *")

    assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "TEXT_INVALID")
    assert says in refused.value.message


@pytest.mark.parametrize("text", ["x" * 10_000, " two\nlines \n", "nul\x00", "植物 🪴"])
async def test_a_text_is_kept_as_it_is(scheduler, text):
    await scheduler.create(text, cron="0 8 * * *")

    assert (await scheduler.listed()).schedules[0].text == text


@pytest.mark.parametrize("owner", ["", "a" * 201])
async def test_an_owner_is_wanted_wherever_there_is_one(scheduler, owner):
    calls = [
        scheduler.create(owner=owner, cron="0 8 * * *"),
        scheduler.listed(owner=owner),
        scheduler.remove(1, owner=owner),
        scheduler.remove(owner=owner),
    ]

    for call in calls:
        with pytest.raises(RemoteError) as refused:
            await call
        assert (refused.value.code, refused.value.reason) == (
            grpc.StatusCode.INVALID_ARGUMENT,
            "OWNER_INVALID",
        )


@pytest.mark.parametrize("request_id", ["x" * 201, "é", "a\nb"])
async def test_a_request_id_is_short_and_plain(scheduler, request_id):
    for call in (
        scheduler.create(cron="0 8 * * *", request_id=request_id),
        scheduler.remove(request_id=request_id),
    ):
        with pytest.raises(RemoteError) as refused:
            await call
        assert refused.value.reason == "BAD_REQUEST_ID"


# ---------------------------------------------------------------- listing


async def test_an_owner_sees_its_own_by_their_next_time(scheduler):
    await scheduler.create("late", at="2028-01-01 12:00")
    await scheduler.create("another's", owner="ben", at="2027-02-01 12:00")
    await scheduler.create("soon", cron="0 12 * * *")

    assert [schedule.text for schedule in (await scheduler.listed()).schedules] == ["soon", "late"]
    assert await scheduler.ids(owner="ben") == [2]
    assert await scheduler.ids(owner="nobody") == []


async def test_only_the_operator_sees_the_schedules_of_all(tmp_path):
    async with scheduling(tmp_path, caller="operator") as scheduler:
        for owner in ("ann", "ben"):
            await scheduler.create(owner=owner, cron="0 12 * * *")

        assert await scheduler.ids(owner="") == [1, 2]
        assert await scheduler.ids(owner="ben") == [2]


async def test_a_list_comes_in_pages(scheduler):
    for day in range(1, 8):
        await scheduler.create(at=f"2027-02-0{day} 12:00")

    pages, token = [], ""
    while True:
        page = await scheduler.listed(page_size=3, page_token=token)
        pages.append([schedule.schedule_id for schedule in page.schedules])
        if not (token := page.next_page_token):
            break

    assert pages == [[1, 2, 3], [4, 5, 6], [7]]


async def test_a_page_that_ends_the_list_says_so(scheduler):
    for day in range(1, 4):
        await scheduler.create(at=f"2027-02-0{day} 12:00")

    assert (await scheduler.listed(page_size=3)).next_page_token == ""


@pytest.mark.parametrize(
    "fields",
    [
        {"page_size": -1},
        {"page_token": "x"},
        {"page_token": "1"},
        {"page_token": "-1-1"},
        {"page_token": "999999999999999999-1"},
        {"page_token": "1-9999999999999999999"},
        {"page_token": "١-١"},
    ],
)
async def test_a_page_that_no_call_gave_is_refused(scheduler, fields):
    with pytest.raises(RemoteError) as refused:
        await scheduler.listed(**fields)

    assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "BAD_PAGE")


# ---------------------------------------------------------------- removing


async def test_a_removed_schedule_is_gone_and_its_id_with_it(scheduler):
    await scheduler.create(cron="0 12 * * *")

    assert await scheduler.remove(1) == 1
    assert await scheduler.ids() == []
    assert (await scheduler.create(cron="0 12 * * *")).schedule.schedule_id == 2


async def test_the_same_request_to_remove_is_answered_alike(scheduler):
    await scheduler.create(cron="0 12 * * *")
    first = await scheduler.remove(1, request_id="call 1")

    assert await scheduler.remove(1, request_id="call 1") == first == 1
    with pytest.raises(RemoteError) as refused:
        await scheduler.remove(request_id="call 1")
    assert refused.value.reason == "KEY_REUSED"


@pytest.mark.parametrize("schedule", [1, 7, 0, -1, 1 << 62, -(1 << 63)])
async def test_a_schedule_that_is_not_there_or_anothers_is_unknown(scheduler, schedule):
    """Whose it is must not show: an agent learns nothing of other agents' schedules."""
    await scheduler.create(owner="ben", cron="0 12 * * *")

    with pytest.raises(RemoteError) as refused:
        await scheduler.remove(schedule)

    assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.NOT_FOUND, "SCHEDULE_UNKNOWN")
    assert refused.value.message == (
        f"There is no schedule {schedule} of this owner. List the schedules to see those that are there."
    )
    assert await scheduler.ids(owner="ben") == [1]


async def test_all_schedules_of_an_owner_go_at_once_and_none_is_no_error(scheduler):
    for owner in ("ann", "ann", "ben"):
        await scheduler.create(owner=owner, cron="0 12 * * *")

    assert await scheduler.remove() == 2
    assert await scheduler.remove() == 0
    assert await scheduler.ids(owner="ben") == [3]


# ---------------------------------------------------------------- previewing


async def test_a_preview_tells_three_runs_or_as_many_as_are_wanted_and_saves_nothing(scheduler):
    counts = {}
    for runs in (0, 1, 7, 1_000, -5):
        counts[runs] = len((await scheduler.preview(cron="0 12 * * *", runs=runs)).times)

    assert counts == {0: 3, 1: 1, 7: 7, 1_000: 100, -5: 3}
    assert await scheduler.ids() == []


async def test_a_preview_reads_times_in_the_users_zone_and_names_it(tmp_path):
    async with scheduling(tmp_path, zone="America/New_York") as scheduler:
        preview = await scheduler.preview(at="2027-02-01 08:00", runs=9)

    assert instants(preview.times) == ["2027-02-01T13:00Z"]
    assert preview.zone == "America/New_York"


# ---------------------------------------------------------------- the door, a restart, a run


@pytest.mark.parametrize("caller", ["telegram", "whatsapp", "scheduler"])
async def test_nobody_but_the_agent_and_the_operator_may_call_it(scheduler, caller):
    """Any other could have the agent woken in the user's name."""
    answers = await refusals(scheduler.loopback.channel(caller), DESCRIPTOR)

    assert {answer and answer.code for answer in answers.values()} == {grpc.StatusCode.PERMISSION_DENIED}


async def test_what_was_set_is_there_after_a_restart_as_it_was(tmp_path):
    async with scheduling(tmp_path) as scheduler:
        await scheduler.create(PLANTS, cron="0 12 * * *", backed=True, request_id="call 1")
        await scheduler.create(owner="ben", at="2027-02-01 12:00")
        before = [list((await scheduler.listed(owner=owner)).schedules) for owner in ("ann", "ben")]

    async with scheduling(tmp_path) as scheduler:
        again = await scheduler.create(PLANTS, cron="0 12 * * *", backed=True, request_id="call 1")
        after = [list((await scheduler.listed(owner=owner)).schedules) for owner in ("ann", "ben")]

    assert after == before
    assert again.schedule == before[0][0]


async def test_a_schedule_that_is_set_runs_without_a_restart_and_one_that_is_removed_does_not(scheduler):
    """The ticker sleeps until the soonest run, and is told when there is a sooner one."""
    await scheduler.alarm.until_waited_for()
    await scheduler.create("removed", at="2027-01-15 09:10")
    await scheduler.create("stays", at="2027-01-15 09:11")
    await scheduler.remove(1)
    due = MORNING + timedelta(minutes=11)
    await scheduler.until_waiting_for(due)

    scheduler.alarm.advance(660)

    await scheduler.agent.until(lambda: bool(scheduler.agent.taken))
    assert scheduler.agent.texts() == ["[Schedule 2] stays"]


async def test_a_schedule_whose_run_waits_for_the_agent_service_is_listed_as_due(scheduler):
    scheduler.agent.away = True
    await scheduler.create(cron="0 12 * * *")
    due = MORNING + timedelta(hours=3)
    await scheduler.until_waiting_for(due)
    scheduler.alarm.advance(3 * 3_600)
    await scheduler.until_waiting_for(None)

    listed = (await scheduler.listed()).schedules

    assert [schedule.next_time for schedule in listed] == [stamp(due)]
