"""When calls end: at a cap, when their caller leaves, and when the server drains."""

import asyncio

import grpc
import grpc.aio
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from onechat_runtime.errors import RemoteError

from tests.fakes.echo import EchoStub, all_of, echo_served
from tests.fakes.loopback import serving


async def _refused(call):
    with pytest.raises(RemoteError) as raised:
        await call
    return raised.value


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
