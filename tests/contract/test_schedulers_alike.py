"""What the agent service counts on of the scheduler: the real one and its double pass this.

A double that keeps less would let tests pass that fail with the service.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from onechat.scheduler.v1 import scheduler_service_pb2 as service
from onechat.scheduler.v1 import scheduler_service_pb2_grpc
from onechat_runtime.errors import RemoteError

from tests.fakes.clock import ManualClock
from tests.fakes.loopback import Loopback
from tests.fakes.scheduler_server import MORNING, scheduling
from tests.fakes.scheduler_servicer import SchedulerServicer, scheduler_serving

CALL_S = 20.0
DAILY = {"cron": "0 8 * * *"}
ONCE = {"at": "2027-01-20 18:00"}


@pytest.fixture(params=["service", "double"])
async def loopback(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Loopback]:
    """A scheduler in Rome on the morning of 15 January 2027."""
    async with AsyncExitStack() as stack:
        if request.param == "service":
            yield (await stack.enter_async_context(scheduling(tmp_path))).loopback
            return
        double = SchedulerServicer(clock=ManualClock(MORNING), zone="Europe/Rome")
        yield await stack.enter_async_context(scheduler_serving(double))


@pytest.fixture
def scheduler(loopback: Loopback) -> Any:
    """A stub of the agent service's."""
    return scheduler_service_pb2_grpc.SchedulerServiceStub(loopback.channel("agent"))


async def create(scheduler: Any, owner: str = "ann", text: str = "Water", **fields: Any) -> Any:
    request = service.CreateScheduleRequest(owner_id=owner, text=text, **fields)
    return await scheduler.CreateSchedule(request, timeout=CALL_S)


async def page(scheduler: Any, owner: str = "ann", **fields: Any) -> Any:
    request = service.ListSchedulesRequest(owner_id=owner, **fields)
    return await scheduler.ListSchedules(request, timeout=CALL_S)


async def ids(scheduler: Any, owner: str = "ann") -> list[int]:
    return [one.schedule_id for one in (await page(scheduler, owner)).schedules]


async def delete(scheduler: Any, number: int | None = None, owner: str = "ann", request_id: str = "") -> int:
    request = service.DeleteScheduleRequest(owner_id=owner, schedule_id=number, request_id=request_id)
    deleted: int = (await scheduler.DeleteSchedule(request, timeout=CALL_S)).deleted
    return deleted


async def refused(call: Any) -> RemoteError:
    with pytest.raises(RemoteError) as raised:
        await call
    assert raised.value.message, "a refusal says what is wrong"
    return raised.value


def instants(times: Any) -> list[str]:
    return [f"{time.ToDatetime(UTC):%Y-%m-%dT%H:%MZ}" for time in times]


async def test_an_expression_is_set_with_its_zone_and_its_next_three_runs(scheduler):
    answer = await create(scheduler, cron=" 0  8 * * 1-5 ", backed=True)

    assert instants(answer.next_times) == ["2027-01-18T07:00Z", "2027-01-19T07:00Z", "2027-01-20T07:00Z"]
    assert answer.schedule == service.Schedule(
        schedule_id=answer.schedule.schedule_id,
        owner_id="ann",
        text="Water",
        cron="0 8 * * 1-5",
        next_time=answer.next_times[0],
        zone="Europe/Rome",
        backed=True,
    )
    assert answer.remark == ""


async def test_a_single_time_is_set_with_its_one_run(scheduler):
    answer = await create(scheduler, **ONCE)

    assert (answer.schedule.at, answer.schedule.backed) == ("2027-01-20 18:00", False)
    assert instants(answer.next_times) == ["2027-01-20T17:00Z"]


async def test_the_same_request_sets_once_and_is_answered_alike(scheduler):
    first = await create(scheduler, **DAILY, request_id="t:1:1:1")

    again = await create(scheduler, **DAILY, request_id="t:1:1:1")

    assert again == first
    assert len(await ids(scheduler)) == 1


@pytest.mark.parametrize(
    "other", [{"text": "Dry"}, {"backed": True}, {"owner": "bob"}, {"cron": "0 9 * * *"}], ids=str
)
async def test_a_request_id_that_comes_with_another_body_is_refused(scheduler, other):
    await create(scheduler, **DAILY, request_id="t:1:1:1")

    error = await refused(create(scheduler, request_id="t:1:1:1", **{**DAILY, **other}))

    assert error.reason == "KEY_REUSED"
    assert len(await ids(scheduler)) == 1


async def test_what_was_refused_may_come_again_in_better_words_under_its_id(scheduler):
    await refused(create(scheduler, cron="@daily", request_id="t:1:1:1"))

    await create(scheduler, **DAILY, request_id="t:1:1:1")

    assert len(await ids(scheduler)) == 1


async def test_an_owner_sees_its_own_alone_by_next_time(scheduler):
    later = (await create(scheduler, at="2027-03-01 10:00")).schedule
    sooner = (await create(scheduler, at="2027-02-01 10:00")).schedule
    daily = (await create(scheduler, **DAILY)).schedule
    await create(scheduler, "bob", **DAILY)

    assert list((await page(scheduler)).schedules) == [daily, sooner, later]


async def test_pages_hold_all_of_them_once(scheduler):
    for day in (3, 1, 2, 5, 4):
        await create(scheduler, text=f"{day}", at=f"2027-02-0{day} 10:00")
    texts, token = [], ""
    while True:
        part = await page(scheduler, page_size=2, page_token=token)
        texts.append([one.text for one in part.schedules])
        token = part.next_page_token
        if not token:
            break

    assert texts == [["1", "2"], ["3", "4"], ["5"]]


async def test_one_is_removed_and_its_id_is_not_given_again(scheduler):
    first = (await create(scheduler, **DAILY)).schedule.schedule_id
    second = (await create(scheduler, **DAILY)).schedule.schedule_id

    assert await delete(scheduler, second) == 1

    assert await ids(scheduler) == [first]
    assert (await create(scheduler, **DAILY)).schedule.schedule_id > second


async def test_a_removal_that_comes_again_is_answered_alike(scheduler):
    number = (await create(scheduler, **DAILY)).schedule.schedule_id

    assert await delete(scheduler, number, request_id="t:1:2:1") == 1
    assert await delete(scheduler, number, request_id="t:1:2:1") == 1

    assert (await refused(delete(scheduler, number, request_id="t:1:3:1"))).reason == "SCHEDULE_UNKNOWN"


@pytest.mark.parametrize(("number", "owner"), [(1, "bob"), (2, "ann"), (0, "ann"), (-1, "ann")])
async def test_nobody_removes_what_is_not_theirs_or_not_there(scheduler, number, owner):
    made = (await create(scheduler, **DAILY)).schedule.schedule_id
    assert made == 1

    assert (await refused(delete(scheduler, number, owner))).reason == "SCHEDULE_UNKNOWN"

    assert await ids(scheduler) == [made]


async def test_all_of_an_owners_go_at_once_and_none_is_fine_too(scheduler):
    for owner in ("ann", "ann", "bob"):
        await create(scheduler, owner, **DAILY)

    assert await delete(scheduler, request_id="gone:1") == 2
    assert await delete(scheduler, request_id="gone:2") == 0

    assert await ids(scheduler) == []
    assert len(await ids(scheduler, "bob")) == 1


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"text": "", **DAILY}, "TEXT_INVALID"),
        ({"text": " \n\t", **DAILY}, "TEXT_INVALID"),
        ({"text": "x" * 10_001, **DAILY}, "TEXT_INVALID"),
        ({"text": "x" * 30_000, **DAILY}, "TEXT_INVALID"),
        ({}, "TIME_INVALID"),
        ({"at": "2027-01-15 08:55"}, "TIME_INVALID"),  # it is nine in Rome
        ({"at": "01-20 18:00"}, "TIME_INVALID"),
        ({"at": "2027-02-30 18:00"}, "TIME_INVALID"),
        ({"at": "tomorrow"}, "TIME_INVALID"),
        ({"cron": "@daily"}, "CRON_INVALID"),
        ({"cron": "0 9 * * mon"}, "CRON_INVALID"),
        ({"cron": "0 0 9 * * *"}, "CRON_INVALID"),
        ({"cron": "0 9 * *"}, "CRON_INVALID"),
        ({"cron": "0 9 30 2 *"}, "CRON_INVALID"),
        ({"cron": "* * * * *"}, "CRON_INVALID"),
        ({"cron": "61 9 * * *"}, "CRON_INVALID"),
        ({"owner": "", **DAILY}, "OWNER_INVALID"),
        ({"owner": "x" * 201, **DAILY}, "OWNER_INVALID"),
        ({"request_id": "x" * 201, **DAILY}, "BAD_REQUEST_ID"),
        ({"request_id": "é", **DAILY}, "BAD_REQUEST_ID"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_what_cannot_be_is_refused_with_its_reason_and_sets_nothing(scheduler, fields, reason):
    error = await refused(create(scheduler, **fields))

    assert error.reason == reason
    assert await ids(scheduler) == []


async def test_a_text_of_ten_thousand_characters_is_kept_whole(scheduler):
    text = "é" * 10_000

    await create(scheduler, text=text, **DAILY)

    assert [one.text for one in (await page(scheduler)).schedules] == [text]


async def test_a_preview_tells_the_runs_and_the_zone_and_sets_nothing(scheduler):
    request = service.PreviewScheduleRequest(cron="0 8 * * *", runs=2)

    answer = await scheduler.PreviewSchedule(request, timeout=CALL_S)

    assert instants(answer.times) == ["2027-01-16T07:00Z", "2027-01-17T07:00Z"]
    assert answer.zone == "Europe/Rome"
    assert await ids(scheduler) == []


@pytest.mark.parametrize("fields", [{"page_size": -1}, {"page_token": "x"}], ids=str)
async def test_a_page_that_cannot_be_is_refused(scheduler, fields):
    assert (await refused(page(scheduler, **fields))).reason == "BAD_PAGE"


@pytest.mark.parametrize("owner", ["", "x" * 201])
async def test_an_owner_that_cannot_be_has_nothing_to_list_or_remove(scheduler, owner):
    assert (await refused(page(scheduler, owner))).reason == "OWNER_INVALID"
    assert (await refused(delete(scheduler, owner=owner))).reason == "OWNER_INVALID"


@pytest.mark.parametrize("caller", ["whatsapp", "telegram"])
async def test_a_gateway_sets_nothing(loopback, caller):
    stub = scheduler_service_pb2_grpc.SchedulerServiceStub(loopback.channel(caller))

    assert (await refused(create(stub, **DAILY))).reason == "CALLER_NOT_ALLOWED"
