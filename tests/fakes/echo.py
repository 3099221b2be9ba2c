"""A contract of all four kinds of rpc, made without a .proto, and a servicer that does what it is told.

Every request and response is a google.protobuf.StringValue. What a request says decides what happens:
ACTIONS has the words; anything else is echoed.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, ClassVar

import grpc
import grpc.aio
from google.protobuf import descriptor_pb2, descriptor_pool, wrappers_pb2
from google.protobuf.wrappers_pb2 import StringValue
from onechat_runtime.errors import RemoteError, ServiceError
from onechat_runtime.listening import Served
from onechat_runtime.tokens import CALLERS, current_caller

METHODS = {"Echo": (False, False), "Repeat": (False, True), "Join": (True, False), "Chat": (True, True)}
SECRET_TEXT = "what the user wrote"


class CupEmpty(ServiceError):
    """The cup is empty. Fill it, then drink."""

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "CUP_EMPTY"


class Busy(ServiceError):
    """Too much at once."""

    code, reason = grpc.StatusCode.RESOURCE_EXHAUSTED, "BUSY"


def _descriptor() -> Any:
    file = descriptor_pb2.FileDescriptorProto(
        name="onechat_tests/echo.proto",
        package="onechat_tests",
        syntax="proto3",
        dependency=[wrappers_pb2.DESCRIPTOR.name],
    )
    service = file.service.add(name="EchoService")
    for name, (asks, answers) in METHODS.items():
        service.method.add(
            name=name,
            input_type=".google.protobuf.StringValue",
            output_type=".google.protobuf.StringValue",
            client_streaming=asks,
            server_streaming=answers,
        )
    pool = descriptor_pool.Default()
    pool.Add(file)
    return pool.FindServiceByName("onechat_tests.EchoService")


DESCRIPTOR = _descriptor()


class EchoServicer:
    """Keeps what it heard; `arrived` is set at each call, `finished` counts those whose handler ended."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.unavailable_left = 0
        self.arrived = asyncio.Event()
        self.release = asyncio.Event()
        self.finished = 0

    ACTIONS: ClassVar = ("refuse", "busy", "break", "wait", "caller", "deadline", "flaky", "abort", "away")

    async def _act(self, said: str, context: Any) -> str:
        self.heard.append(said)
        self.arrived.set()
        match said:
            case "refuse":
                raise CupEmpty(cup="größer 😀")
            case "busy":
                raise Busy(retry_after_s=7.5)
            case "break":
                raise ValueError(SECRET_TEXT)
            case "away":
                raise RemoteError(grpc.StatusCode.UNAVAILABLE, SECRET_TEXT)
            case "abort":
                await context.abort(grpc.StatusCode.OUT_OF_RANGE, "past the end")
            case "wait":
                await self.release.wait()
            case "caller":
                return current_caller()
            case "deadline":
                return "none" if context.time_remaining() is None else "some"
            case "flaky" if self.unavailable_left:
                self.unavailable_left -= 1
                await context.abort(grpc.StatusCode.UNAVAILABLE, "not now")
        return said

    async def Echo(self, request: StringValue, context: Any) -> StringValue:
        try:
            return StringValue(value=await self._act(request.value, context))
        finally:
            self.finished += 1

    async def Repeat(self, request: StringValue, context: Any) -> AsyncIterator[StringValue]:
        try:
            yield StringValue(value="first")
            yield StringValue(value=await self._act(request.value, context))
        finally:
            self.finished += 1

    async def Join(self, requests: AsyncIterator[StringValue], context: Any) -> StringValue:
        return StringValue(value="+".join([await self._act(one.value, context) async for one in requests]))

    async def Chat(self, requests: AsyncIterator[StringValue], context: Any) -> AsyncIterator[StringValue]:
        async for one in requests:
            yield StringValue(value=await self._act(one.value, context))


class EchoStub:
    """Calls of the contract over `channel`."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        coders = (StringValue.SerializeToString, StringValue.FromString)
        path = f"/{DESCRIPTOR.full_name}/"
        self.Echo = channel.unary_unary(path + "Echo", *coders)
        self.Repeat = channel.unary_stream(path + "Repeat", *coders)
        self.Join = channel.stream_unary(path + "Join", *coders)
        self.Chat = channel.stream_stream(path + "Chat", *coders)


def echo_served(
    servicer: EchoServicer,
    *,
    allow: frozenset[str] = frozenset(CALLERS),
    caps: dict[str, float] | None = None,
    ends_at_drain: frozenset[str] = frozenset(),
) -> Served:
    """`servicer` behind the door, every method for `allow`."""
    kinds: dict[tuple[bool, bool], Callable[..., Any]] = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }
    handlers = {
        name: kinds[kind](getattr(servicer, name), StringValue.FromString, StringValue.SerializeToString)
        for name, kind in METHODS.items()
    }

    def add(server: grpc.aio.Server) -> None:
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(DESCRIPTOR.full_name, handlers),)
        )

    return Served(
        descriptor=DESCRIPTOR,
        add=add,
        allow=dict.fromkeys(METHODS, allow),
        caps=caps or {},
        ends_at_drain=ends_at_drain,
    )


async def all_of(stream: Any) -> list[str]:
    """Every value of a response stream."""
    return [one.value async for one in stream]


Call = Callable[[EchoStub, str], Awaitable[list[str]]]


async def _echo(stub: EchoStub, said: str) -> list[str]:
    return [(await stub.Echo(StringValue(value=said), timeout=20)).value]


async def _repeat(stub: EchoStub, said: str) -> list[str]:
    return await all_of(stub.Repeat(StringValue(value=said), timeout=20))


async def _join(stub: EchoStub, said: str) -> list[str]:
    return [(await stub.Join(_one(said), timeout=20)).value]


async def _chat(stub: EchoStub, said: str) -> list[str]:
    return await all_of(stub.Chat(_one(said), timeout=20))


async def _one(said: str) -> AsyncIterator[StringValue]:
    yield StringValue(value=said)


CALLS: dict[str, Call] = {"Echo": _echo, "Repeat": _repeat, "Join": _join, "Chat": _chat}
