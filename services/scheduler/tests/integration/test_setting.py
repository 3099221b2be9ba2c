"""Setting a schedule at the service's door: what it answers, what is refused, and with which words."""

from datetime import UTC, datetime
from typing import Any

import grpc
import pytest
from onechat_runtime.errors import RemoteError

from tests.fakes.scheduler_server import scheduling

PLANTS = "Water the plants"


def instants(times: Any) -> list[str]:
    """Times of an answer, in UTC."""
    return [f"{time.ToDatetime():%Y-%m-%dT%H:%MZ}" for time in times]


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
