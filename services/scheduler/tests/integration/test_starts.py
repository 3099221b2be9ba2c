"""The scheduler as a person starts it: one process a store, ended and started again."""

import json

import pytest
from onechat.ops.v1 import ops_service_pb2, ops_service_pb2_grpc
from onechat.scheduler.v1 import scheduler_service_pb2 as service
from onechat.scheduler.v1 import scheduler_service_pb2_grpc
from onechat_runtime.channels import open_channel
from onechat_scheduler.__main__ import NAME

from tests.fakes.free_ports import free_ports
from tests.fakes.service_process import ServiceProcess, start_in_vain, started

CALL_S = 10.0


@pytest.fixture
def nobody() -> str:
    """An address at which no agent service listens."""
    return f"127.0.0.1:{free_ports(1)[0]}"


def channel_to(scheduler: ServiceProcess):
    return open_channel(scheduler.address, token=scheduler.token("operator"), name=NAME)


async def test_it_starts_healthy_without_an_agent_service_says_which_it_misses_and_ends_when_told(
    tmp_path, nobody
):
    with started(NAME, tmp_path, ONECHAT_AGENT_ADDRESS=nobody) as scheduler:
        status, health = scheduler.page("/healthz")
        async with channel_to(scheduler) as channel:
            asked = ops_service_pb2_grpc.SnapshotServiceStub(channel)
            info = await asked.GetInfo(ops_service_pb2.GetInfoRequest(), timeout=CALL_S)

        assert (status, json.loads(health)["status"]) == (200, "SERVING")
        assert (info.service, info.schema, list(info.troubles)) == (NAME, 1, [])
        assert [(one.service, one.serving) for one in info.neighbours] == [("agent", False)]
        assert scheduler.stop() == 0


async def test_a_schedule_that_was_set_is_there_after_a_restart(tmp_path, nobody):
    told = {"ONECHAT_AGENT_ADDRESS": nobody, "ONECHAT_TIME_ZONE": "Asia/Tokyo"}
    with started(NAME, tmp_path, **told) as first:
        async with channel_to(first) as channel:
            stub = scheduler_service_pb2_grpc.SchedulerServiceStub(channel)
            request = service.CreateScheduleRequest(owner_id="ann", text="Water", cron="0 8 * * *")
            made = (await stub.CreateSchedule(request, timeout=CALL_S)).schedule
        stopped = first.stop()

    with started(NAME, tmp_path, **told) as second:
        async with channel_to(second) as channel:
            stub = scheduler_service_pb2_grpc.SchedulerServiceStub(channel)
            found = await stub.ListSchedules(service.ListSchedulesRequest(), timeout=CALL_S)

    assert stopped == 0
    assert list(found.schedules) == [made]
    assert made.zone == "Asia/Tokyo"


async def test_without_a_zone_times_are_the_machines(tmp_path, nobody):
    with started(NAME, tmp_path, ONECHAT_AGENT_ADDRESS=nobody, TZ="Pacific/Auckland") as scheduler:
        async with channel_to(scheduler) as channel:
            stub = scheduler_service_pb2_grpc.SchedulerServiceStub(channel)
            preview = await stub.PreviewSchedule(
                service.PreviewScheduleRequest(cron="0 8 * * *"), timeout=CALL_S
            )

    assert preview.zone == "Pacific/Auckland"


def test_a_second_scheduler_on_the_same_data_refuses_to_start(tmp_path, nobody):
    """Two schedulers on one store would each give every run."""
    with started(NAME, tmp_path, ONECHAT_AGENT_ADDRESS=nobody):
        code, said = start_in_vain(NAME, tmp_path, ONECHAT_AGENT_ADDRESS=nobody)

    assert code == 2
    assert said.startswith(f"onechat {NAME}: ")
    assert said.count("\n") == 1
    assert "in use by process" in said


def test_a_zone_that_is_none_is_refused_with_what_to_write(tmp_path):
    code, said = start_in_vain(NAME, tmp_path, ONECHAT_TIME_ZONE="Rome", ONECHAT_AGENT_ADDRESS="nowhere")

    lines = said.splitlines()
    assert code == 2
    assert [line.split()[2] for line in lines] == ["ONECHAT_AGENT_ADDRESS", "ONECHAT_TIME_ZONE"]
    assert "Europe/Rome" in lines[1]
