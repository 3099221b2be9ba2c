"""The door of a server: tokens, allow-lists, errors, limits, for each of the four kinds of rpc."""

import asyncio
import json

import grpc
import grpc.aio
import pytest
import structlog
from google.protobuf.wrappers_pb2 import StringValue
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from onechat.ops.v1 import ops_service_pb2, ops_service_pb2_grpc
from onechat_runtime import logs
from onechat_runtime.errors import RemoteError
from onechat_runtime.health import HealthBoard

from tests.fakes.echo import CALLS, SECRET_TEXT, EchoServicer, EchoStub, all_of, echo_served
from tests.fakes.loopback import serving

KINDS = pytest.mark.parametrize("kind", list(CALLS))


@pytest.fixture
def servicer():
    return EchoServicer()


@pytest.fixture
async def loopback(servicer):
    async with serving(echo_served(servicer, allow=frozenset({"agent", "operator"}))) as opened:
        yield opened


@pytest.fixture
def logged(capsys):
    """The lines that were logged, as objects, once so many calls are among them.

    A call's line is written when the call is over, which its caller may know before.
    """
    logs.configure("kitchen", "debug", json=True)
    lines = []

    async def until(calls):
        async with asyncio.timeout(5):
            while True:
                lines.extend(json.loads(line) for line in capsys.readouterr().err.splitlines())
                if len([line for line in lines if line["event"] == "rpc"]) >= calls:
                    return lines
                await asyncio.sleep(0.005)

    yield until
    structlog.reset_defaults()


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


@KINDS
async def test_a_refusal_reaches_its_caller_with_all_it_says(loopback, kind):
    error = await _refused(CALLS[kind](EchoStub(loopback.channel()), "refuse"))

    assert (error.code, error.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "CUP_EMPTY")
    assert error.message == "The cup is empty. Fill it, then drink."
    assert error.metadata == {"cup": "größer 😀"}
    assert error.retry_after_s is None
    assert error.outcome_known


@KINDS
async def test_what_may_work_later_says_when(loopback, kind):
    error = await _refused(CALLS[kind](EchoStub(loopback.channel()), "busy"))

    assert (error.code, error.retry_after_s) == (grpc.StatusCode.RESOURCE_EXHAUSTED, 7.5)


@KINDS
async def test_a_bug_is_internal_without_its_text_and_its_stack_is_logged(loopback, kind, logged):
    error = await _refused(CALLS[kind](EchoStub(loopback.channel()), "break"))

    assert (error.code, error.reason) == (grpc.StatusCode.INTERNAL, "BUG")
    assert SECRET_TEXT not in str(error)
    assert not error.outcome_known
    lines = await logged(1)
    (failure,) = [line for line in lines if line["event"] == "rpc_failed"]
    assert "ValueError" in failure["stack"]
    assert "in _act" in failure["stack"] or "_act" in failure["stack"]
    assert SECRET_TEXT not in json.dumps(lines, ensure_ascii=False)


@KINDS
async def test_another_service_that_is_away_is_no_bug_of_this_one(loopback, kind, logged):
    """Its caller tries again, and nobody looks for a fault where there is none."""
    error = await _refused(CALLS[kind](EchoStub(loopback.channel()), "away"))

    assert (error.code, error.reason) == (grpc.StatusCode.UNAVAILABLE, "NEIGHBOUR_AWAY")
    assert SECRET_TEXT not in error.message
    assert "rpc_failed" not in [line["event"] for line in await logged(1)]


@KINDS
async def test_a_status_that_the_handler_set_itself_stays(loopback, kind):
    error = await _refused(CALLS[kind](EchoStub(loopback.channel()), "abort"))

    assert (error.code, error.message) == (grpc.StatusCode.OUT_OF_RANGE, "past the end")


@KINDS
async def test_every_call_is_logged_once_without_what_was_said(loopback, kind, logged):
    await CALLS[kind](EchoStub(loopback.channel("agent")), SECRET_TEXT)
    await _refused(CALLS[kind](EchoStub(loopback.channel("agent")), "refuse"))

    lines = await logged(2)
    calls = [line for line in lines if line["event"] == "rpc"]
    assert [(one["rpc"], one["caller"], one["code"], one.get("reason")) for one in calls] == [
        (f"EchoService/{kind}", "agent", "OK", None),
        (f"EchoService/{kind}", "agent", "FAILED_PRECONDITION", "CUP_EMPTY"),
    ]
    assert SECRET_TEXT not in json.dumps(lines, ensure_ascii=False)
    assert "token-of" not in json.dumps(lines)


async def test_a_call_without_a_deadline_is_capped(servicer):
    metadata = (("authorization", "Bearer token-of-agent"),)
    async with (
        serving(echo_served(servicer, caps={"Echo": 0.05})) as loopback,
        grpc.aio.insecure_channel(loopback.address) as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await EchoStub(channel).Echo(StringValue(value="wait"), metadata=metadata)

    error = RemoteError.of(raised.value)
    assert (error.code, error.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "CALL_TOO_LONG")
    assert "no deadline" in error.message
    assert servicer.finished == 1


async def test_a_call_with_a_deadline_is_not_capped(servicer):
    async with serving(echo_served(servicer, caps={"Echo": 0.01})) as loopback:
        call = EchoStub(loopback.channel()).Echo(StringValue(value="wait"), timeout=10)
        await servicer.arrived.wait()
        asyncio.get_running_loop().call_later(0.05, servicer.release.set)

        assert (await call).value == "wait"


async def test_a_stream_that_its_caller_leaves_ends_at_the_server(loopback, servicer, until):
    """A subscription that nobody reads must not stay for ever."""
    call = EchoStub(loopback.channel()).Repeat(StringValue(value="wait"), timeout=60)
    async for _ in call:
        break

    call.cancel()

    await until(lambda: servicer.finished == 1)


async def test_a_drain_ends_endless_streams_and_lets_calls_finish(servicer):
    async with serving(echo_served(servicer)) as loopback:
        stub = EchoStub(loopback.channel())
        stream = asyncio.create_task(all_of(stub.Repeat(StringValue(value="wait"), timeout=60)))
        await servicer.arrived.wait()
        servicer.arrived.clear()
        call = asyncio.ensure_future(_value(stub.Echo(StringValue(value="wait"), timeout=60)))
        await servicer.arrived.wait()

        draining = asyncio.create_task(loopback.listening.drain())
        error = await _refused(stream)
        assert not call.done()
        servicer.release.set()

        assert await call == "wait"
        await draining
    assert (error.code, error.reason) == (grpc.StatusCode.UNAVAILABLE, "SERVICE_ENDING")
    assert error.retry_after_s is not None
    assert "ending" in error.message


async def _value(call):
    return (await call).value


async def test_a_drain_ends_the_long_waits_that_are_named(servicer):
    served = echo_served(servicer, ends_at_drain=frozenset({"Echo"}))
    async with serving(served) as loopback, asyncio.timeout(5):
        stub = EchoStub(loopback.channel())
        call = asyncio.ensure_future(_value(stub.Echo(StringValue(value="wait"), timeout=60)))
        await servicer.arrived.wait()

        await loopback.listening.drain()
        error = await _refused(call)

    assert error.code is grpc.StatusCode.UNAVAILABLE


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
