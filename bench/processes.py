"""Services as processes of their own, as a person starts them, and channels to them. Times are seconds.

A service gets a free port and nothing of this process's own settings. What it logs is read and thrown away:
in a deployment somebody reads it too.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import grpc.aio
import psutil  # type: ignore[import-untyped]
from grpc_health.v1 import health_pb2, health_pb2_grpc
from onechat_runtime.channels import new_channel
from onechat_runtime.tokens import ensure_tokens, read_token

TIMEOUT_S: Final = 30.0
_REPOSITORY: Final = Path(__file__).parents[1]
_OURS: Final = ("ONECHAT_", "OPENAI_", "TELEGRAM_")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceProcess:
    """A service that is SERVING."""

    address: str
    pid: int
    serving_s: float  #: from its exec until a health check answered SERVING
    cpu_s: float  #: processor time that it had taken by then
    channel: grpc.aio.Channel  #: with the operator's token; closed with the service


@asynccontextmanager
async def started(
    service: str,
    data: Path,
    environ: Mapping[str, str] | None = None,
    *,
    program: Sequence[str] | None = None,
) -> AsyncIterator[ServiceProcess]:
    """Start `service` on the data folder `data`; it is ended in order at the end.

    `environ` holds what it is told beside its data and its address. `program`: a module of this repository
    that is run in its place, with its arguments.
    """
    ensure_tokens(data)
    told = {
        "ONECHAT_DATA": str(data),
        f"ONECHAT_{service.upper()}_ADDRESS": "127.0.0.1:0",
        **(environ or {}),
    }
    began = time.monotonic()
    if program is not None:
        told["PYTHONPATH"] = os.pathsep.join([str(_REPOSITORY), os.environ.get("PYTHONPATH", "")])
    process = await _exec([sys.executable, "-m", *(program or [f"onechat_{service}"])], told, data)
    reading: asyncio.Task[None] | None = None
    try:
        ready = await asyncio.wait_for(_ready_line(process, service), TIMEOUT_S)
        assert process.stderr is not None
        async with new_channel(ready["address"], token=read_token(data / "tokens" / "operator")) as channel:
            await _want_serving(channel, service)
            serving_s, cpu = time.monotonic() - began, psutil.Process(process.pid).cpu_times()
            reading = asyncio.create_task(_read_on(process.stderr))
            yield ServiceProcess(
                address=ready["address"],
                pid=process.pid,
                serving_s=serving_s,
                cpu_s=cpu.user + cpu.system,
                channel=channel,
            )
    finally:
        await _end(process)
        if reading is not None:
            await reading


async def python_s(code: str, folder: Path) -> float:
    """How long a bare Python takes to run `code`, from exec to its end."""
    began = time.monotonic()
    process = await _exec([sys.executable, "-c", code], {}, folder)
    _, said = await process.communicate()
    if process.returncode:
        raise RuntimeError(said.decode())
    return time.monotonic() - began


@asynccontextmanager
async def bare_python(imports: str, folder: Path) -> AsyncIterator[int]:
    """A Python that has imported `imports` and waits; its process id."""
    code = f"import {imports}, sys; print(file=sys.stderr, flush=True); sys.stdin.read()"
    process = await _exec([sys.executable, "-c", code], {}, folder)
    assert process.stderr is not None
    try:
        if await process.stderr.readline() != b"\n":
            raise RuntimeError(f"{imports} cannot be imported")
        yield process.pid
    finally:
        await _end(process)


async def _exec(command: list[str], told: Mapping[str, str], folder: Path) -> asyncio.subprocess.Process:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return await asyncio.create_subprocess_exec(
        *command,
        env={**environ, **told},
        cwd=folder,
        stdin=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def _ready_line(process: asyncio.subprocess.Process, service: str) -> dict[str, Any]:
    assert process.stderr is not None
    said: list[str] = []
    async for raw in process.stderr:
        line = raw.decode()
        if '"event": "ready"' in line:
            ready: dict[str, Any] = json.loads(line)
            return ready
        said.append(line)
    code = await process.wait()
    raise RuntimeError(f"{service} ended before it was ready, with code {code}: {''.join(said)}")


async def _want_serving(channel: grpc.aio.Channel, service: str) -> None:
    stub: Any = health_pb2_grpc.HealthStub(channel)
    answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=TIMEOUT_S)
    if answer.status != health_pb2.HealthCheckResponse.SERVING:
        raise RuntimeError(f"{service} is ready and not SERVING")


async def _read_on(log: asyncio.StreamReader) -> None:
    while await log.read(65_536):
        pass


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), TIMEOUT_S)
    except TimeoutError:
        process.kill()
        await process.wait()
