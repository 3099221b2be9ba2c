"""The gateway before anything is linked: it is there, it is well, and it says what to do."""

import json

import grpc
import pytest
from onechat.ops.v1 import ops_service_pb2, ops_service_pb2_grpc
from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1
from onechat.whatsapp.v1 import whatsapp_service_pb2_grpc
from onechat_runtime.channels import open_channel
from onechat_runtime.errors import RemoteError
from onechat_whatsapp.__main__ import NAME
from onechat_whatsapp.domain.link import SENTENCES, LinkState
from onechat_whatsapp.servicer import DESCRIPTOR

from tests.fakes.service_process import refusals, start_in_vain, started

REMARK = SENTENCES[LinkState.NOT_LINKED]


async def test_each_caller_gets_what_is_theirs(tmp_path):
    """Any but the agent and the operator could send in the user's name."""
    with started(NAME, tmp_path) as gateway:
        answers = {}
        for caller in ("agent", "operator", "telegram", "scheduler", "whatsapp"):
            async with open_channel(gateway.address, token=gateway.token(caller), name=NAME) as channel:
                answers[caller] = await refusals(channel, DESCRIPTOR)

    denied = {"telegram", "scheduler", "whatsapp"}
    codes = {caller: {answer and answer.code for answer in each.values()} for caller, each in answers.items()}
    assert {caller for caller in codes if codes[caller] == {grpc.StatusCode.PERMISSION_DENIED}} == denied
    assert all(grpc.StatusCode.PERMISSION_DENIED not in codes[caller] for caller in codes.keys() - denied)


async def test_it_says_that_nothing_is_linked_and_how_it_is(tmp_path):
    with started(NAME, tmp_path) as gateway:
        async with open_channel(gateway.address, token=gateway.token("agent"), name=NAME) as channel:
            stub = whatsapp_service_pb2_grpc.WhatsAppServiceStub(channel)
            status = await stub.GetStatus(v1.GetStatusRequest(), timeout=5)
            unlinked = await stub.Unlink(v1.UnlinkRequest(request_id="1"), timeout=5)
            with pytest.raises(RemoteError) as refused:
                await stub.FindChats(v1.FindChatsRequest(name="Bob"), timeout=5)
            with pytest.raises(RemoteError) as not_paired:
                await stub.Pair(v1.PairRequest(phone="Bob"), timeout=5)

    assert (status.link, status.trouble, unlinked.told) == (v1.LINK_STATE_NOT_LINKED, "", True)
    assert (refused.value.reason, not_paired.value.reason) == ("NOT_LINKED", "PHONE_INVALID")
    assert "/whatsapp pair PHONE" in refused.value.message


async def test_it_starts_healthy_says_that_nothing_is_linked_and_ends_when_told(tmp_path):
    with started(NAME, tmp_path) as gateway:
        status, health = gateway.page("/healthz")
        async with open_channel(gateway.address, token=gateway.token("operator"), name=NAME) as channel:
            asked = ops_service_pb2_grpc.SnapshotServiceStub(channel)
            info = await asked.GetInfo(ops_service_pb2.GetInfoRequest(), timeout=5)

        assert (status, json.loads(health)["status"]) == (200, "SERVING")
        assert (info.service, list(info.remarks), list(info.troubles)) == (NAME, [REMARK], [])
        assert gateway.stop() == 0


def test_a_second_gateway_on_the_same_data_refuses_to_start(tmp_path):
    """Two gateways on one session would have WhatsApp end the link."""
    with started(NAME, tmp_path):
        code, said = start_in_vain(NAME, tmp_path)

    assert code == 2
    assert said.startswith(f"onechat {NAME}: ")
    assert said.count("\n") == 1
    assert "in use by process" in said


def test_a_session_of_which_nobody_can_tell_whether_it_is_one_is_said_at_the_start(tmp_path):
    """It must be taken neither for none, which would be told as lost, nor for a fault of the program."""
    (tmp_path / NAME / "session.db").mkdir(parents=True, mode=0o700)
    (tmp_path / NAME).chmod(0o700)

    code, said = start_in_vain(NAME, tmp_path)

    assert code == 2
    assert said.count("\n") == 1
    assert "session.db in the data folder, cannot be read" in said
