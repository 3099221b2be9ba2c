"""A gRPC server that is open: its address, its door, health, reflection, ops.v1 and the pages beside it.

Building one from parts and ending it in order; a process around it: server.py. Times are seconds.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import grpc.aio
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from onechat.ops.v1 import ops_service_pb2_grpc

from onechat_runtime import metrics, ops_servicer
from onechat_runtime.channels import KEEPALIVE_S, KEEPALIVE_TIMEOUT_S, MESSAGE_SIZES
from onechat_runtime.errors import StartRefused
from onechat_runtime.freezing import Snapshots
from onechat_runtime.health import HealthBoard
from onechat_runtime.health_service import HealthService, health_page
from onechat_runtime.interceptors import Gate, Rule
from onechat_runtime.loopback_http import Page, serving_pages
from onechat_runtime.settings import METRICS_ABOVE
from onechat_runtime.tokens import CALLERS, Callers

UNARY_CAP_S: Final = 30.0
DRAIN_S: Final = 7.0  # leaves of the ten seconds enough to end background work and close the store
SOCKET_PATH_MAX: Final = 107 - len(".http")  # bytes; sun_path of unix(7), and the pages' socket is beside it
LAST_WORD_S: Final = 0.2  # for what watches health to hear that it ends

_OPTIONS: Final = (
    *MESSAGE_SIZES,
    ("grpc.so_reuseport", 0),  # else a second process shares the port silently
    ("grpc.keepalive_time_ms", KEEPALIVE_S * 1000),
    ("grpc.keepalive_timeout_ms", KEEPALIVE_TIMEOUT_S * 1000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", KEEPALIVE_S * 1000 // 2),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One service of a contract, who may call it, how long a call may take. Methods go by bare names."""

    descriptor: ServiceDescriptor
    add: Callable[[grpc.aio.Server], None]  #: registers the servicer
    allow: Mapping[str, frozenset[str]]  #: the callers of each method; every method has an entry
    caps: Mapping[str, float] = field(default_factory=dict)  #: s, of a call without a deadline
    ends_at_drain: frozenset[str] = (
        frozenset()
    )  #: long waits to end at once; streams without a cap are anyhow
    background: Sequence[Callable[[], Awaitable[None]]] = ()  #: its own work, for as long as it serves


class Listening:
    """A server that takes calls until `drain`."""

    def __init__(
        self,
        server: Any,
        gate: Gate,
        health: HealthService,
        board: HealthBoard,
        snapshots: Snapshots | None,
    ) -> None:
        self.address = ""  #: HOST:PORT or unix:/path, with the port that was taken
        self.pages_address: str | None = None  #: where /healthz and /metrics are
        self._server = server
        self._gate = gate
        self._health = health
        self._board = board
        self._snapshots = snapshots

    async def keep_health(self) -> None:
        """Show the board's changes in health answers, until cancelled."""
        await self._health.run()

    async def drain(self, grace_s: float = DRAIN_S) -> None:
        """Say NOT_SERVING, end what would not end by itself, let the other calls end, stop."""
        self._board.drain()
        if self._snapshots is not None:
            self._snapshots.let_go()  # calls that wait for the writer must end in time
        await self._health.shut_down()
        stopping = asyncio.ensure_future(self._server.stop(grace_s))  # refuses new calls at once
        try:
            await asyncio.sleep(LAST_WORD_S if grace_s else 0)
            self._gate.drain()
        finally:
            await stopping


@asynccontextmanager
async def listening(
    *,
    name: str,
    address: str,
    services: Sequence[Served],
    board: HealthBoard,
    callers: Callers,
    schema: int,
    started: datetime,
    snapshots: Snapshots | None = None,
    pages: bool = True,
) -> AsyncIterator[Listening]:
    """A server of `services` at `address` that answers; stopped at the end, at once if it was not drained.

    `snapshots` are those of the service's store, if it has one. Raises StartRefused when the address cannot
    be had. Port 0 takes any free one.
    """
    ops = Served(
        descriptor=ops_servicer.DESCRIPTOR,
        add=lambda server: ops_service_pb2_grpc.add_SnapshotServiceServicer_to_server(
            ops_servicer.SnapshotServicer(
                name=name, schema=schema, started=started, board=board, snapshots=snapshots
            ),
            server,
        ),
        allow=ops_servicer.ALLOW,
        caps=ops_servicer.CAPS,
        ends_at_drain=ops_servicer.ENDS_AT_DRAIN,
    )
    every = (*services, ops)
    gate = Gate(name=name, rules=rules_of(every), callers=callers)
    server = grpc.aio.server(interceptors=[gate], options=_OPTIONS)
    for one in every:
        one.add(server)
    names = [one.descriptor.full_name for one in every]
    health = HealthService(board, names)
    health_pb2_grpc.add_HealthServicer_to_server(health.servicer, server)
    health_name = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name
    reflection.enable_server_reflection((*names, health_name, reflection.SERVICE_NAME), server)
    opened = Listening(server, gate, health, board, snapshots)
    opened.address = await _bind(server, address)
    mirror = asyncio.create_task(opened.keep_health())
    try:
        await server.start()
        async with _pages(opened, board, any_port=address.endswith(":0")) if pages else _no_pages():
            yield opened
    finally:
        mirror.cancel()
        await asyncio.gather(mirror, return_exceptions=True)
        await server.stop(None)


def rules_of(services: Sequence[Served]) -> dict[str, Rule]:
    """The rule of every rpc that `services`, health and reflection have, by full method name.

    ValueError for a method without an entry in `allow`, and for a name that is no method.
    """
    rules = {
        "/grpc.health.v1.Health/Check": Rule(allow=None, cap_s=UNARY_CAP_S, quiet=True),
        "/grpc.health.v1.Health/Watch": Rule(allow=None, ends_at_drain=True, quiet=True),
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": Rule(
            allow=frozenset(CALLERS), ends_at_drain=True, quiet=True
        ),
    }
    for one in services:
        methods = {method.name: method for method in one.descriptor.methods}
        for strange in {*one.allow, *one.caps, *one.ends_at_drain} - set(methods):
            raise ValueError(f"{one.descriptor.full_name} has no method {strange}")
        for method in methods.values():
            if method.name not in one.allow:
                raise ValueError(f"nobody is named who may call {one.descriptor.full_name}.{method.name}")
            streams = method.client_streaming or method.server_streaming
            cap_s = one.caps.get(method.name, None if streams else UNARY_CAP_S)
            rules[f"/{one.descriptor.full_name}/{method.name}"] = Rule(
                allow=one.allow[method.name],
                cap_s=cap_s,
                ends_at_drain=method.name in one.ends_at_drain or (method.server_streaming and cap_s is None),
            )
    return rules


async def _bind(server: Any, address: str) -> str:
    """Give `server` the `address`; the address with its real port."""
    if address.startswith("unix:"):
        await _refuse_held_socket(address)
    else:
        await _refuse_held_port(address)
    try:
        port = server.add_insecure_port(address)
    except RuntimeError:
        raise _in_use(address) from None
    return address if address.startswith("unix:") else f"{address.rpartition(':')[0]}:{port}"


async def _refuse_held_port(address: str) -> None:
    """Try `address` first with a socket of our own, whose error says what is wrong; gRPC's does not."""
    host, _, port = address.rpartition(":")
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            host.strip("[]"), int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, kind, proto, _, where = found[0]
        with socket.socket(family, kind, proto) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
    except socket.gaierror:
        raise StartRefused(f"{address} cannot be listened on: this machine has no {host}.") from None
    except OSError as error:
        raise _in_use(address, error) from None


async def _refuse_held_socket(address: str) -> None:
    """gRPC would take a unix socket away from whoever listens on it."""
    path = Path(address.removeprefix("unix:"))
    if len(os.fsencode(path)) > SOCKET_PATH_MAX:
        raise StartRefused(
            f"{address} cannot be listened on: a socket's path has at most {SOCKET_PATH_MAX} bytes."
        )
    if not path.parent.is_dir():
        raise StartRefused(f"{address} cannot be listened on: there is no folder {path.parent}.")
    with suppress(FileNotFoundError, ConnectionRefusedError):
        try:
            _, writer = await asyncio.open_unix_connection(path)
        except (FileNotFoundError, ConnectionRefusedError):
            raise
        except OSError as error:
            raise _in_use(address, error) from None
        writer.close()
        raise _in_use(address)


def _in_use(address: str, error: OSError | None = None) -> StartRefused:
    cause = "it is in use" if error is None else (error.strerror or str(error)).lower()
    return StartRefused(
        f"{address} cannot be listened on ({cause}): stop what uses it, or set another ONECHAT_…_ADDRESS."
    )


@asynccontextmanager
async def _pages(opened: Listening, board: HealthBoard, *, any_port: bool) -> AsyncIterator[None]:
    """/healthz and /metrics beside `opened`; at any free port where that was given one too."""

    def healthz() -> Page:
        serving, body = health_page(board)
        return Page(status=200 if serving else 503, content_type="application/json", body=body)

    def measured() -> Page:
        return Page(status=200, content_type=metrics.CONTENT_TYPE, body=metrics.page(board))

    where = 0 if any_port else _pages_beside(opened.address)
    try:
        async with serving_pages({"/healthz": healthz, "/metrics": measured}, where) as address:
            opened.pages_address = address
            yield
    except OSError as error:
        if opened.pages_address is not None:
            raise
        raise _in_use(f"127.0.0.1:{where}, for /healthz and /metrics,", error) from None


@asynccontextmanager
async def _no_pages() -> AsyncIterator[None]:
    yield


def _pages_beside(address: str) -> int | Path:
    if address.startswith("unix:"):
        return Path(address.removeprefix("unix:") + ".http")
    port = int(address.rpartition(":")[2]) + METRICS_ABOVE
    return port if port <= 65535 else 0
