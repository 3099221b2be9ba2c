"""Channels to other services: the token on every call, a deadline that must be named, RemoteError, keepalive.

UNAVAILABLE alone is tried again, by the service config's retry policy. gRPC uses an interceptor that has
several kinds of rpc for the first of them only, so each kind has a class of its own. Times are seconds.
"""

import asyncio
import json
import math
import random
from collections.abc import AsyncIterator, Generator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from onechat_runtime.early_ends import EarlyEnd
from onechat_runtime.errors import RemoteError
from onechat_runtime.health import HealthBoard
from onechat_runtime.tokens import HEADER

NO_DEADLINE: Final = math.inf  # what a stream that has no end passes as its timeout
MESSAGE_MAX_BYTES: Final = 16 * 1024 * 1024
KEEPALIVE_S: Final = 60
KEEPALIVE_TIMEOUT_S: Final = 20
_RECONNECT_MS: Final = (100, 5_000)  # gRPC's own longest pause, two minutes, would outlast any restart
_WATCH_AGAIN_S: Final = (1.0, 5.0)
_SERVICE_CONFIG: Final = json.dumps(
    {
        "methodConfig": [
            {
                "name": [{}],
                "retryPolicy": {
                    "maxAttempts": 4,
                    "initialBackoff": "0.1s",
                    "maxBackoff": "1s",
                    "backoffMultiplier": 2,
                    "retryableStatusCodes": ["UNAVAILABLE"],
                },
            }
        ]
    }
)
MESSAGE_SIZES: Final = (
    ("grpc.max_send_message_length", MESSAGE_MAX_BYTES),
    ("grpc.max_receive_message_length", MESSAGE_MAX_BYTES),
)
_OPTIONS: Final = (
    *MESSAGE_SIZES,
    ("grpc.service_config", _SERVICE_CONFIG),
    ("grpc.enable_retries", 1),
    ("grpc.keepalive_time_ms", KEEPALIVE_S * 1000),
    ("grpc.keepalive_timeout_ms", KEEPALIVE_TIMEOUT_S * 1000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", _RECONNECT_MS[0]),
    ("grpc.min_reconnect_backoff_ms", _RECONNECT_MS[0]),
    ("grpc.max_reconnect_backoff_ms", _RECONNECT_MS[1]),
    ("grpc.dns_min_time_between_resolutions_ms", 2_000),  # a new container has a new address
    ("grpc.enable_http_proxy", 0),  # the environment's proxy is for the internet
    # A channel of its own connection: what one channel learnt about a dead peer must not hold up another.
    ("grpc.use_local_subchannel_pool", 1),
)


@asynccontextmanager
async def open_channel(
    address: str, *, token: str, name: str, board: HealthBoard | None = None
) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to the service `name` at `address`; the service need not be there.

    A call needs `timeout=` (TypeError without; NO_DEADLINE for a stream that has no end) and raises
    RemoteError, from its answer and from iterating its stream. With `board`, the neighbour's state is kept
    there by the health service's Watch stream.
    """
    async with new_channel(address, token=token) as channel:
        watching = None if board is None else asyncio.create_task(_watch(channel, name, board))
        try:
            yield channel
        finally:
            if watching is not None:
                watching.cancel()
                with suppress(asyncio.CancelledError):
                    await watching


def new_channel(address: str, *, token: str) -> Any:
    """The channel of `open_channel`, which its caller closes."""
    return grpc.aio.insecure_channel(address, options=_OPTIONS, interceptors=_interceptors(token))


async def _watch(channel: grpc.aio.Channel, name: str, board: HealthBoard) -> None:
    """Keep `board` told whether `name` serves, for ever; nothing is sent while nothing changes."""
    board.neighbour(name, serving=False)
    stub: Any = health_pb2_grpc.HealthStub(channel)
    while True:
        try:
            states = stub.Watch(health_pb2.HealthCheckRequest(), timeout=NO_DEADLINE, wait_for_ready=True)
            async for state in states:
                board.neighbour(name, serving=state.status == health_pb2.HealthCheckResponse.SERVING)
        except RemoteError:
            pass  # away, or ended: both are "missing" until it answers again
        board.neighbour(name, serving=False)
        await asyncio.sleep(random.uniform(*_WATCH_AGAIN_S))  # noqa: S311 - spreads callers, keeps no secret


def _interceptors(token: str) -> list[grpc.aio.ClientInterceptor]:
    bearer = f"Bearer {token}"
    return [_UnaryUnary(bearer), _UnaryStream(bearer), _StreamUnary(bearer), _StreamStream(bearer)]


class _Kind:
    """What the four kinds share; none of them is derived from another."""

    def __init__(self, bearer: str) -> None:
        self._bearer = bearer

    def _signed(self, details: Any, *, endless: bool) -> grpc.aio.ClientCallDetails:
        """`details` with the token; TypeError when the caller named no deadline."""
        timeout = details.timeout
        if timeout is None or (timeout == NO_DEADLINE and not endless):
            raise TypeError(f"{details.method.decode()} needs timeout=, in seconds")
        metadata = grpc.aio.Metadata(*(details.metadata or ()))
        metadata[HEADER] = self._bearer
        return grpc.aio.ClientCallDetails(
            details.method,
            None if timeout == NO_DEADLINE else timeout,
            metadata,
            details.credentials,
            details.wait_for_ready,
        )


class _UnaryUnary(_Kind, grpc.aio.UnaryUnaryClientInterceptor):  # type: ignore[misc]
    async def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        call = await continuation(self._signed(client_call_details, endless=False), request)
        try:
            await call
        except grpc.aio.AioRpcError as error:
            raise RemoteError.of(error) from None
        return call


class _UnaryStream(_Kind, grpc.aio.UnaryStreamClientInterceptor):  # type: ignore[misc]
    async def intercept_unary_stream(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        return _streamed(await continuation(self._signed(client_call_details, endless=True), request))


class _StreamUnary(_Kind, grpc.aio.StreamUnaryClientInterceptor):  # type: ignore[misc]
    async def intercept_stream_unary(
        self, continuation: Any, client_call_details: Any, request_iterator: Any
    ) -> Any:
        call = await continuation(self._signed(client_call_details, endless=False), request_iterator)
        return _Answer(call)


class _StreamStream(_Kind, grpc.aio.StreamStreamClientInterceptor):  # type: ignore[misc]
    async def intercept_stream_stream(
        self, continuation: Any, client_call_details: Any, request_iterator: Any
    ) -> Any:
        call = await continuation(self._signed(client_call_details, endless=True), request_iterator)
        return _streamed(call, EarlyEnd(call))


class _Answer:
    """A call whose requests may still be being written, so that only its caller can wait for the answer."""

    def __init__(self, call: Any) -> None:
        self._call = call
        self._end = EarlyEnd(call)

    def __await__(self) -> Generator[Any, None, Any]:
        return self._answer().__await__()

    async def _answer(self) -> Any:
        try:
            return await self._call
        except grpc.aio.AioRpcError as error:
            raise RemoteError.of(await self._end.instead_of(error)) from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)


async def _streamed(call: Any, end: EarlyEnd | None = None) -> AsyncIterator[Any]:
    """The responses of `call` as they come; RemoteError where it ends in an error."""
    try:
        async for response in call:
            yield response
    except grpc.aio.AioRpcError as error:
        raise RemoteError.of(error if end is None else await end.instead_of(error)) from None
