"""Channels: the token and a deadline on every kind of call, and errors that say what is known."""

import asyncio
import os
from contextlib import AsyncExitStack

import grpc
import grpc.aio
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from onechat_runtime.channels import MESSAGE_MAX_BYTES, NO_DEADLINE, open_channel
from onechat_runtime.errors import RemoteError, retriable

from tests.fakes.echo import CALLS, EchoServicer, EchoStub, all_of, echo_served
from tests.fakes.loopback import serving

KINDS = pytest.mark.parametrize("kind", list(CALLS))


@pytest.fixture
def servicer():
    return EchoServicer()


@pytest.fixture
async def stub(servicer):
    async with serving(echo_served(servicer)) as loopback:
        yield EchoStub(loopback.channel("agent"))


async def _said(*words):
    for word in words:
        yield StringValue(value=word)


@KINDS
async def test_every_kind_of_call_carries_the_token_also_after_the_first(stub, kind):
    """One interceptor class for several kinds is used for the first of them only."""
    for _ in range(2):
        for other in CALLS:
            assert (await CALLS[other](stub, "caller"))[-1] == "agent"


async def test_a_call_without_a_timeout_is_a_mistake_at_once(stub, servicer):
    with pytest.raises(TypeError, match="EchoService/Echo needs timeout="):
        await stub.Echo(StringValue(value="hi"))
    with pytest.raises(TypeError, match="Repeat needs timeout="):
        await all_of(stub.Repeat(StringValue(value="hi")))
    with pytest.raises(TypeError, match="Join needs timeout="):
        await stub.Join(_said("hi"))
    with pytest.raises(TypeError, match="Chat needs timeout="):
        await all_of(stub.Chat(_said("hi")))

    assert servicer.heard == []


async def test_only_a_stream_may_have_no_end(stub):
    assert await all_of(stub.Repeat(StringValue(value="deadline"), timeout=NO_DEADLINE)) == ["first", "none"]
    assert await all_of(stub.Repeat(StringValue(value="deadline"), timeout=5)) == ["first", "some"]
    with pytest.raises(TypeError, match="needs timeout="):
        await stub.Echo(StringValue(value="hi"), timeout=NO_DEADLINE)


async def test_requests_may_be_written_one_by_one(stub):
    joined = stub.Join(timeout=5)
    for word in ("a", "b"):
        await joined.write(StringValue(value=word))
    await joined.done_writing()
    chat = stub.Chat(timeout=5)
    await chat.write(StringValue(value="c"))
    first = await chat.read()
    await chat.done_writing()

    assert (await joined).value == "a+b"
    assert first.value == "c"
    assert await chat.read() is grpc.aio.EOF


async def test_a_deadline_that_passes_leaves_the_outcome_open(stub):
    with pytest.raises(RemoteError) as raised:
        await stub.Echo(StringValue(value="wait"), timeout=0.05)

    assert raised.value.code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert not raised.value.outcome_known


class _Dropping(EchoServicer):
    """Does to each call what gRPC's server does to those that come while it ends."""

    async def _act(self, said: str, context: grpc.aio.ServicerContext) -> str:
        await context.abort(grpc.StatusCode.CANCELLED, "CANCELLED")
        raise AssertionError("abort raises")


@KINDS
async def test_a_call_that_an_ending_server_drops_is_worth_another_try(kind):
    """Else a neighbour's restart looks like a refusal, and what it was is given up."""
    async with serving(echo_served(_Dropping())) as loopback:
        with pytest.raises(RemoteError) as raised:
            await CALLS[kind](EchoStub(loopback.channel("agent")), "hi")

    assert raised.value.code is grpc.StatusCode.UNAVAILABLE
    assert not raised.value.outcome_known


async def test_a_service_that_is_away_is_unavailable(servicer, tmp_path):
    async with open_channel(f"unix:{tmp_path}/nobody", token="t", name="kitchen") as channel:
        with pytest.raises(RemoteError) as raised:
            await EchoStub(channel).Echo(StringValue(value="hi"), timeout=5)

    assert raised.value.code is grpc.StatusCode.UNAVAILABLE
    assert raised.value.reason == ""


@pytest.fixture
def proxied():
    """An environment whose proxy answers nobody."""
    names = ("http_proxy", "https_proxy", "grpc_proxy")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "http://127.0.0.1:9"))
    yield
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


async def test_the_environments_proxy_stays_out_of_the_way(proxied, stub):
    assert await CALLS["Echo"](stub, "hi") == ["hi"]


async def test_unavailable_alone_is_tried_again(stub, servicer):
    servicer.unavailable_left = 2
    answered = await CALLS["Echo"](stub, "flaky")
    with pytest.raises(RemoteError):
        await CALLS["Echo"](stub, "busy")

    assert answered == ["flaky"]
    assert servicer.heard == ["flaky", "flaky", "flaky", "busy"]


async def test_trying_again_ends_with_the_error(stub, servicer):
    servicer.unavailable_left = 100

    with pytest.raises(RemoteError) as raised:
        await CALLS["Echo"](stub, "flaky")

    assert raised.value.code is grpc.StatusCode.UNAVAILABLE
    assert servicer.heard == ["flaky"] * 4


async def test_a_stream_raises_from_iterating_after_what_came(stub):
    came = []

    async def read():
        async for one in stub.Repeat(StringValue(value="refuse"), timeout=5):
            came.append(one.value)

    with pytest.raises(RemoteError) as raised:
        await read()

    assert came == ["first"]
    assert raised.value.reason == "CUP_EMPTY"


async def test_a_large_message_passes_and_a_larger_one_is_refused_for_good(stub):
    """gRPC's own code for it, RESOURCE_EXHAUSTED, is one that callers wait for."""
    large = "x" * (MESSAGE_MAX_BYTES - 1000)

    assert await CALLS["Echo"](stub, large) == [large]
    with pytest.raises(RemoteError) as raised:
        await CALLS["Echo"](stub, "x" * (MESSAGE_MAX_BYTES + 1))
    assert raised.value.code is grpc.StatusCode.INVALID_ARGUMENT
    assert not retriable(raised.value.code)
    assert raised.value.outcome_known


@pytest.mark.parametrize("kind", ["Join", "Chat"])
async def test_a_refusal_in_the_middle_of_a_stream_is_heard_whatever_is_being_written(stub, kind):
    """A write that meets the end of its call leaves a status of its own, which must not hide the server's."""
    refusals = set()

    for _ in range(20):
        call = getattr(stub, kind)(_said("refuse", *["x" * 65_536] * 40), timeout=5)
        with pytest.raises(RemoteError) as refused:
            await (call if kind == "Join" else all_of(call))
        refusals.add((refused.value.code, refused.value.reason, refused.value.outcome_known))

    assert refusals == {(grpc.StatusCode.FAILED_PRECONDITION, "CUP_EMPTY", True)}


async def test_a_cancelled_caller_cancels_its_call(stub, servicer, until):
    task = asyncio.create_task(CALLS["Echo"](stub, "wait"))
    await servicer.arrived.wait()

    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert task.cancelled()
    await until(lambda: servicer.finished == 1)


async def test_a_watched_neighbour_is_missing_until_it_comes_and_again_when_it_goes(
    servicer, board, until, tmp_path
):
    address = f"unix:{tmp_path}/kitchen"

    def state():
        return board.neighbours()["kitchen"].serving

    async with AsyncExitStack() as stack:
        channel = open_channel(address, token="t", name="kitchen", board=board)
        await stack.enter_async_context(channel)
        await until(lambda: "kitchen" in board.neighbours())
        assert not state()

        for _ in range(2):
            async with serving(echo_served(servicer), address=address) as loopback:
                await until(state, 15)
                await loopback.listening.drain(grace_s=1)
                await until(lambda: not state())

    assert board.serving


async def test_a_neighbour_that_says_not_serving_is_missing(servicer, board, until):
    async with (
        serving(echo_served(servicer)) as loopback,
        open_channel(loopback.address, token="t", name="kitchen", board=board),
    ):
        await until(lambda: _state(board) is True)

        loopback.board.drain()

        await until(lambda: _state(board) is False)


async def test_a_watch_asks_once_and_then_listens(servicer, board, until):
    """Polling five services for ever is a busy loop."""
    calls = []

    class Counting(grpc.aio.ServerInterceptor):
        async def intercept_service(self, continuation, details):
            calls.append(details.method)
            return await continuation(details)

    from grpc_health.v1 import health, health_pb2, health_pb2_grpc

    server = grpc.aio.server(interceptors=[Counting()])
    answering = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(answering, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with open_channel(f"127.0.0.1:{port}", token="t", name="kitchen", board=board):
        for serving_now in (True, False, True, False):
            state = health_pb2.HealthCheckResponse.SERVING if serving_now else 2
            await answering.set("", state)
            await until(lambda wanted=serving_now: _state(board) is wanted)
    await server.stop(None)

    assert calls == ["/grpc.health.v1.Health/Watch"]


def _state(board):
    found = board.neighbours().get("kitchen")
    return found and found.serving
