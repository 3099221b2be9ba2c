"""The door of a server: tokens and allow-lists, and what every service serves beside its own."""

import grpc
import grpc.aio
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from onechat.ops.v1 import ops_service_pb2, ops_service_pb2_grpc
from onechat_runtime.errors import RemoteError
from onechat_runtime.health import HealthBoard

from tests.fakes.echo import CALLS, EchoStub, all_of, echo_served
from tests.fakes.loopback import serving

KINDS = pytest.mark.parametrize("kind", list(CALLS))


async def _refused(call):
    with pytest.raises(RemoteError) as raised:
        await call
    return raised.value


async def _bare(address, metadata=(), said="hi"):
    """A call without our interceptors; what went wrong."""
    async with grpc.aio.insecure_channel(address) as channel:
        try:
            await EchoStub(channel).Echo(StringValue(value=said), timeout=5, metadata=metadata)
        except grpc.aio.AioRpcError as error:
            return RemoteError.of(error)
    return None


@KINDS
async def test_a_caller_with_its_token_is_known_by_name(loopback, kind):
    stub = EchoStub(loopback.channel("agent"))

    assert (await CALLS[kind](stub, "caller"))[-1] == "agent"


@KINDS
async def test_a_caller_that_is_not_on_the_list_is_refused(loopback, servicer, kind, logged):
    error = await _refused(CALLS[kind](EchoStub(loopback.channel("whatsapp")), "hi"))

    assert (error.code, error.reason) == (grpc.StatusCode.PERMISSION_DENIED, "CALLER_NOT_ALLOWED")
    assert error.metadata == {"caller": "whatsapp"}
    assert servicer.heard == []
    assert [one["caller"] for one in await logged(1) if one["event"] == "rpc"] == ["whatsapp"]


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ((), "TOKEN_MISSING"),
        ((("authorization", "token-of-agent"),), "TOKEN_MISSING"),
        ((("authorization", "Basic token-of-agent"),), "TOKEN_MISSING"),
        ((("authorization", "Bearer "),), "TOKEN_UNKNOWN"),
        ((("authorization", "Bearer token-of-somebody"),), "TOKEN_UNKNOWN"),
        ((("name-bin", b"\xff\xfe\x00"), ("authorization", "Bearer nobody")), "TOKEN_UNKNOWN"),
    ],
)
async def test_a_call_without_a_known_token_is_refused(loopback, servicer, metadata, reason):
    error = await _bare(loopback.address, metadata)

    assert (error.code, error.reason) == (grpc.StatusCode.UNAUTHENTICATED, reason)
    assert servicer.heard == []


async def test_a_token_is_taken_as_grpcurl_sends_it(loopback):
    assert await _bare(loopback.address, (("authorization", "bearer token-of-operator"),)) is None


async def test_metadata_of_others_breaks_nothing(loopback, servicer):
    metadata = (("x-note-bin", "größer 😀".encode()), ("authorization", "Bearer token-of-agent"))

    assert await _bare(loopback.address, metadata) is None


async def test_health_answers_without_a_token(loopback):
    async with grpc.aio.insecure_channel(loopback.address) as channel:
        answer = await health_pb2_grpc.HealthStub(channel).Check(
            health_pb2.HealthCheckRequest(service="onechat_tests.EchoService"), timeout=5
        )

    assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def _list_services(channel):
    asked = iter([reflection_pb2.ServerReflectionRequest(list_services="")])
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    async for answer in stub.ServerReflectionInfo(asked, timeout=5):
        return {one.name for one in answer.list_services_response.service}
    return set()


async def test_reflection_needs_a_token(loopback):
    async with grpc.aio.insecure_channel(loopback.address) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await _list_services(channel)
    assert raised.value.code() is grpc.StatusCode.UNAUTHENTICATED

    assert await _list_services(loopback.channel("operator")) >= {
        "onechat_tests.EchoService",
        "onechat.ops.v1.SnapshotService",
        "grpc.health.v1.Health",
    }


async def test_every_service_says_what_it_is(clock, servicer):
    board = HealthBoard(clock)
    board.neighbour("memory", serving=False)
    board.trouble("outbox", "1 could not be handed over.")
    board.remark("link", "not linked")
    async with serving(echo_served(servicer), board=board, name="kitchen", schema=3) as loopback:
        stub = ops_service_pb2_grpc.SnapshotServiceStub(loopback.channel("telegram"))
        info = await stub.GetInfo(ops_service_pb2.GetInfoRequest(), timeout=5)

    assert (info.service, info.schema, info.version) == ("kitchen", 3, "0.1.0")
    assert info.start_time.seconds > 0
    assert [(one.service, one.serving) for one in info.neighbours] == [("memory", False)]
    assert info.neighbours[0].change_time.ToDatetime(tzinfo=clock.now().tzinfo) == clock.now()
    assert [(one.key, one.sentence) for one in info.troubles] == [("outbox", "1 could not be handed over.")]
    assert list(info.remarks) == ["not linked"]


async def test_a_service_without_a_store_says_that_there_is_nothing_to_copy(loopback):
    stub = ops_service_pb2_grpc.SnapshotServiceStub(loopback.channel("operator"))

    errors = [
        await _refused(stub.Freeze(ops_service_pb2.FreezeRequest(), timeout=5)),
        await _refused(stub.Thaw(ops_service_pb2.ThawRequest(), timeout=5)),
        await _refused(all_of(stub.ReadSnapshot(ops_service_pb2.ReadSnapshotRequest(), timeout=5))),
    ]

    assert {(one.code, one.reason) for one in errors} == {(grpc.StatusCode.UNIMPLEMENTED, "NOT_SERVED_YET")}
    assert all("has no store" in one.message for one in errors)


async def test_snapshots_are_for_the_operator_alone(loopback):
    stub = ops_service_pb2_grpc.SnapshotServiceStub(loopback.channel("agent"))

    error = await _refused(stub.Freeze(ops_service_pb2.FreezeRequest(), timeout=5))

    assert error.code is grpc.StatusCode.PERMISSION_DENIED
