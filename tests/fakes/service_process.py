"""A service as a process of its own, as a person starts it: on its own data folder and any free ports.

Also how every call of a contract answers, for services that refuse all of them alike.
"""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc.aio
from google.protobuf import message_factory
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from onechat_runtime.errors import RemoteError

ENDS_WITHIN_S = 10.0


class ServiceProcess:
    """A service that is ready."""

    def __init__(self, process: subprocess.Popen[str], ready: dict[str, Any], data: Path) -> None:
        self._process = process
        self.address: str = ready["address"]
        self.pid = process.pid
        self.pages: str = ready["pages"]
        self.ready = ready  #: what its ready line said
        self.data = data

    def token(self, caller: str) -> str:
        """The token of `caller`, as the service made it."""
        return (self.data / "tokens" / caller).read_text().strip()

    def page(self, path: str) -> tuple[int, str]:
        """Status and body of a page beside the service, such as /healthz."""
        with urllib.request.urlopen(f"http://{self.pages}{path}", timeout=20) as answer:
            return answer.status, answer.read().decode()

    def stop(self) -> int:
        """Ask it to end; its exit code. It has as long as a deployment gives it."""
        self._process.send_signal(signal.SIGTERM)
        self._process.communicate(timeout=ENDS_WITHIN_S)
        return self._process.returncode


def _command(service: str, data: Path, environ: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    theirs = ("ONECHAT_", "OPENAI_", "TELEGRAM_")  # of whoever runs the tests: a real token must stay out
    own = {name: value for name, value in os.environ.items() if not name.startswith(theirs)}
    own |= {"ONECHAT_DATA": str(data), f"ONECHAT_{service.upper()}_ADDRESS": "127.0.0.1:0", **environ}
    return [sys.executable, "-m", f"onechat_{service}"], own


@contextmanager
def started(service: str, data: Path, **environ: str) -> Iterator[ServiceProcess]:
    """Start `service` on `data`, which may be empty; it is killed at the end if it still runs."""
    command, environment = _command(service, data, environ)
    process = subprocess.Popen(command, env=environment, cwd=data, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        said = []
        for line in process.stderr:
            said.append(line)
            if '"event": "ready"' in line:
                yield ServiceProcess(process, json.loads(line), data)
                return
        raise AssertionError(f"{service} ended before it was ready: {''.join(said)}")
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def start_in_vain(service: str, data: Path, **environ: str) -> tuple[int, str]:
    """Start `service` where it cannot work: its exit code, and what it said on stderr."""
    command, environment = _command(service, data, environ)
    ended = subprocess.run(
        command, env=environment, cwd=data, capture_output=True, text=True, timeout=30, check=False
    )
    return ended.returncode, ended.stderr


async def refusals(channel: grpc.aio.Channel, service: ServiceDescriptor) -> dict[str, RemoteError | None]:
    """What each method of `service` answers to an empty request; None where it answers with a response."""
    return {method.name: await _refusal(channel, service, method) for method in service.methods}


async def _refusal(
    channel: grpc.aio.Channel, service: ServiceDescriptor, method: MethodDescriptor
) -> RemoteError | None:
    request = message_factory.GetMessageClass(method.input_type)
    response = message_factory.GetMessageClass(method.output_type)
    asks, answers = (
        "stream" if streams else "unary" for streams in (method.client_streaming, method.server_streaming)
    )
    call = getattr(channel, f"{asks}_{answers}")(
        f"/{service.full_name}/{method.name}", request.SerializeToString, response.FromString
    )

    async def one() -> AsyncIterator[Any]:
        yield request()

    try:
        answer = call(one() if method.client_streaming else request(), timeout=20)
        if method.server_streaming:
            async for _ in answer:
                return None
        else:
            await answer
    except RemoteError as refused:
        return refused
    return None
