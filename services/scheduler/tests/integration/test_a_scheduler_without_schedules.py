"""The scheduler before schedules are served: it is there, it is well, and it says what it cannot do."""

import json

import grpc
import pytest
from onechat.ops.v1 import ops_service_pb2, ops_service_pb2_grpc
from onechat_runtime.channels import open_channel
from onechat_scheduler.__main__ import NAME, REMARK, served
from onechat_scheduler.errors import SENTENCE
from onechat_scheduler.servicer import DESCRIPTOR

from tests.fakes.loopback import serving
from tests.fakes.service_process import refusals, start_in_vain, started


@pytest.mark.parametrize("caller", ["agent", "operator"])
async def test_every_call_says_that_it_is_not_served_and_what_to_do(caller):
    async with serving(served()) as loopback:
        answers = await refusals(loopback.channel(caller), DESCRIPTOR)

    said = {(answer.code, answer.reason, answer.message) for answer in answers.values()}
    assert said == {(grpc.StatusCode.UNIMPLEMENTED, "NOT_SERVED_YET", SENTENCE)}


@pytest.mark.parametrize("caller", ["telegram", "whatsapp", "scheduler"])
async def test_nobody_but_the_agent_and_the_operator_may_call_it(caller):
    """Any other could have the agent woken in the user's name, once schedules are served."""
    async with serving(served()) as loopback:
        answers = await refusals(loopback.channel(caller), DESCRIPTOR)

    assert {answer.code for answer in answers.values()} == {grpc.StatusCode.PERMISSION_DENIED}


async def test_it_starts_healthy_says_that_there_are_no_schedules_and_ends_when_told(tmp_path):
    with started(NAME, tmp_path) as scheduler:
        status, health = scheduler.page("/healthz")
        async with open_channel(scheduler.address, token=scheduler.token("operator"), name=NAME) as channel:
            asked = ops_service_pb2_grpc.SnapshotServiceStub(channel)
            info = await asked.GetInfo(ops_service_pb2.GetInfoRequest(), timeout=5)

        assert (status, json.loads(health)["status"]) == (200, "SERVING")
        assert (info.service, list(info.remarks), list(info.troubles)) == (NAME, [REMARK], [])
        assert scheduler.stop() == 0


def test_a_second_scheduler_on_the_same_data_refuses_to_start(tmp_path):
    """Two schedulers on one store would each give every run."""
    with started(NAME, tmp_path):
        code, said = start_in_vain(NAME, tmp_path)

    assert code == 2
    assert said.startswith(f"onechat {NAME}: ")
    assert said.count("\n") == 1
    assert "in use by process" in said
