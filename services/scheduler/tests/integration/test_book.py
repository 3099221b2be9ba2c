"""Schedules at the service's door: listed, removed, previewed, kept over a restart, and run."""

import asyncio
from datetime import UTC, datetime, timedelta

import grpc
import pytest
from onechat_runtime.errors import RemoteError
from onechat_scheduler.servicer import DESCRIPTOR

from tests.fakes.scheduler_server import MORNING, scheduling
from tests.fakes.service_process import refusals

PLANTS = "Water the plants"


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


async def test_long_texts_come_in_pages_that_a_call_can_carry(scheduler):
    """A list that is refused as too large would be refused for ever."""
    await asyncio.gather(*(scheduler.create("🪴" * 10_000, cron="0 12 * * *") for _ in range(200)))

    read, sizes, token = [], [], ""
    while True:
        page = await scheduler.listed(page_size=1_000, page_token=token)
        read += [schedule.schedule_id for schedule in page.schedules]
        sizes.append(page.ByteSize())
        if not (token := page.next_page_token):
            break

    assert read == list(range(1, 201))
    assert max(sizes) < 4 * 1024 * 1024
    assert len(sizes) == 3


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

    assert [time.ToDatetime(UTC) for time in preview.times] == [datetime(2027, 2, 1, 13, tzinfo=UTC)]
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

    assert [schedule.next_time.ToDatetime(UTC) for schedule in listed] == [due]
