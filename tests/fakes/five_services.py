"""The five services as real processes on one data folder and free ports; each can be killed and started anew.

They are forked by five_services_forks.py, so that a start takes a fraction of a second. The model is the demo
server in a process of its own: five_services_model.py. A user: five_services_chat.py. Times are seconds.
"""

import asyncio
import json
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final

import grpc.aio
from onechat_cli.up.healthz import serves
from onechat_runtime.channels import new_channel
from onechat_runtime.tokens import ensure_tokens, read_token

from tests.fakes.five_services_points import VARIABLE, Point
from tests.fakes.free_ports import claimed

SERVICES: Final = ("memory", "agent", "whatsapp", "telegram", "scheduler")
REPOSITORY: Final = Path(__file__).parents[2]
READY_S: Final = 30.0
LOOK_S: Final = 0.01
PAGES_ABOVE: Final = 1000  # a service's port to that of its pages
_PORTS: Final = range(20_000, 31_000)  # below those that the kernel gives to connections
_FROM_HERE: Final = ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONPATH")


async def until(condition: Callable[[], bool], within_s: float = 30.0, what: str = "") -> None:
    """Return once `condition` holds, which nothing announces; TimeoutError with `what` after `within_s`."""
    end = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what or "it did not come to pass")
        await asyncio.sleep(LOOK_S)


class Forked:
    """One process; `code` is its exit code once `ended` is set, negative for a signal."""

    def __init__(self, forks: "Forks", pid: int) -> None:
        self.pid = pid
        self.ended = threading.Event()
        self.code: int | None = None
        self._forks = forks

    def signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        self._forks.order({"signal": self.pid, "number": number})

    async def end(self, within_s: float = 15.0) -> int:
        """Its exit code, once it has ended."""
        await until(self.ended.is_set, within_s, f"process {self.pid} does not end")
        assert self.code is not None
        return self.code


class Forks:
    """The fork server, from its parent's side; belongs to no event loop."""

    def __init__(self) -> None:
        environ = {name: os.environ[name] for name in _FROM_HERE if name in os.environ}
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.fakes.five_services_forks"],
            cwd=REPOSITORY,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._numbers = count(1)
        self._started: dict[int, Forked] = {}
        self._by_pid: dict[int, Forked] = {}
        self._changed = threading.Condition()
        threading.Thread(target=self._listen, name="forks", daemon=True).start()

    def start(
        self, program: str, *, environ: Mapping[str, str], folder: Path, log: Path, **more: Any
    ) -> Forked:
        """Fork `program`, one of the services or `demo`; `more`: arguments, file_limit."""
        number = next(self._numbers)
        own = {name: os.environ[name] for name in _FROM_HERE if name in os.environ} | dict(environ)
        paths = {"folder": str(folder), "log": str(log)}
        fields = {"arguments": [], "file_limit": None, **more}
        self.order({"start": number, "program": program, "environ": own, **paths, **fields})
        with self._changed:
            assert self._changed.wait_for(lambda: number in self._started, READY_S), "nothing was forked"
            return self._started.pop(number)

    def order(self, order: Mapping[str, Any]) -> None:
        """Hand an order over."""
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(order).encode() + b"\n")
        self._server.stdin.flush()

    def close(self) -> None:
        """End the server, and with it whatever it started."""
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait(READY_S)

    def _listen(self) -> None:
        assert self._server.stdout is not None
        for line in self._server.stdout:
            answer = json.loads(line)
            with self._changed:
                if "started" in answer:
                    forked = Forked(self, answer["pid"])
                    self._started[answer["started"]] = self._by_pid[forked.pid] = forked
                elif "ended" in answer:
                    forked = self._by_pid.pop(answer["ended"])
                    forked.code = answer["code"]
                    forked.ended.set()
                self._changed.notify_all()


class FiveServices:
    """Processes on one data folder; use `five_services`."""

    def __init__(self, forks: Forks, folder: Path, environ: Mapping[str, str]) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.addresses = dict(zip(SERVICES, free_addresses(len(SERVICES)), strict=True))
        self.environ = {
            "ONECHAT_DATA": str(self.data),
            "ONECHAT_TIME_ZONE": "Europe/Rome",
            **{f"ONECHAT_{name.upper()}_ADDRESS": address for name, address in self.addresses.items()},
            **environ,
        }
        self.kills: dict[str, int] = dict.fromkeys(SERVICES, 0)
        self._forks = forks
        self._running: dict[str, Forked] = {}
        self._points: dict[str, Point | None] = {}
        self._channels: dict[tuple[str, str], grpc.aio.Channel] = {}
        folder.mkdir(parents=True, exist_ok=True)
        ensure_tokens(self.data)

    async def start(self, *names: str, point: Point | None = None, ready: bool = True) -> None:
        """Start services, with a `point` to kill themselves; with `ready` wait for their health."""
        for name in names:
            assert not self.running(name), f"{name} runs already"
            self._points[name] = point
            self._running[name] = self._forks.start(
                name,
                environ=self.environ if point is None else {**self.environ, VARIABLE: point.words},
                folder=self.folder,
                log=self.log_file(name),
            )
        if ready:
            for name in names:
                await self.ready(name)

    async def ready(self, name: str, within_s: float = READY_S) -> None:
        """Return once it serves, or has ended by its point."""
        end = time.monotonic() + within_s
        while self.running(name) and not await serves(self.addresses[name]):
            assert time.monotonic() < end, f"{name} does not serve: {self.said(name)[-2000:]}"
            await asyncio.sleep(LOOK_S)
        if not self.running(name):
            code = self._running[name].code
            assert code == -signal.SIGKILL, f"{name} ended with {code}: {self.said(name)[-2000:]}"

    def running(self, name: str) -> bool:
        """Whether there is a process of `name` that has not ended."""
        return name in self._running and not self._running[name].ended.is_set()

    def process(self, name: str) -> Forked:
        """The latest process of `name`."""
        return self._running[name]

    async def kill(self, name: str) -> None:
        """SIGKILL it, wherever it is."""
        self._running[name].signal(signal.SIGKILL)
        await self.killed(name)

    async def killed(self, name: str, within_s: float = 30.0) -> None:
        """Return once it was killed, by `kill` or by its point."""
        assert await self._running[name].end(within_s) == -signal.SIGKILL, self.said(name)[-2000:]
        self.kills[name] += 1

    async def stop(self, name: str) -> float:
        """Ask it to end by SIGTERM; how long that took. One with a point may end by that instead."""
        began = time.monotonic()
        self._running[name].signal(signal.SIGTERM)
        code = await self._running[name].end()
        assert code == 0 or (code == -signal.SIGKILL and self._points[name]), self.said(name)[-2000:]
        return time.monotonic() - began

    def fill_disk(self, name: str) -> None:
        """From now on it can write no file, as on a full disk."""
        self._limit_files(name, 0)

    def free_disk(self, name: str) -> None:
        """There is space again."""
        self._limit_files(name, resource.RLIM_INFINITY)

    def _limit_files(self, name: str, size: int) -> None:
        process, (_, most) = self.process(name).pid, resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.prlimit(process, resource.RLIMIT_FSIZE, (size, most))

    async def refuse(
        self, name: str, file_limit: int | None = None, **environ: str
    ) -> tuple[int | None, list[str]]:
        """Start `name` where it cannot work: its exit code and the lines that it said to people."""
        log = self.folder / f"{name}-refused.log"
        log.unlink(missing_ok=True)
        process = self._forks.start(
            name,
            environ={**self.environ, **environ},
            folder=self.folder,
            log=log,
            file_limit=file_limit,
        )
        code = await process.end()
        said = log.read_text(encoding="utf-8").splitlines()
        return code, [line for line in said if not line.startswith("{")]

    def channel(self, caller: str = "operator", service: str = "agent") -> grpc.aio.Channel:
        """A channel with the token of `caller`, closed at the end."""
        key = (caller, service)
        if key not in self._channels:
            token = read_token(self.data / "tokens" / caller)
            self._channels[key] = new_channel(self.addresses[service], token=token)
        return self._channels[key]

    def log_file(self, name: str) -> Path:
        """Where `name` logs, all its processes one after the other."""
        return self.folder / f"{name}.log"

    def said(self, name: str) -> str:
        """What it logged so far."""
        return self.log_file(name).read_text(encoding="utf-8", errors="replace")

    async def close(self) -> None:
        """Kill what runs, close the channels."""
        for process in self._running.values():
            process.signal(signal.SIGKILL)
        for process in self._running.values():
            await process.end()
        for channel in self._channels.values():
            await channel.close()


@asynccontextmanager
async def five_services(forks: Forks, folder: Path, **environ: str) -> AsyncIterator[FiveServices]:
    """Five services that are not started yet, on an empty or a used `folder`; killed at the end."""
    services = FiveServices(forks, folder, environ)
    try:
        yield services
    finally:
        await services.close()


def free_addresses(wanted: int) -> list[str]:
    """Addresses on loopback that are free now, with the port of their pages above each."""
    found: list[str] = []
    ports = list(_PORTS)
    random.Random(os.getpid() + time.monotonic_ns()).shuffle(ports)
    for port in ports:
        mine = (port, port + PAGES_ABOVE)
        if all(map(_is_free, mine)) and claimed(*mine):
            found.append(f"127.0.0.1:{port}")
        if len(found) == wanted:
            return found
    raise AssertionError("this machine has no free ports")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return probe.connect_ex(("127.0.0.1", port)) != 0
