"""One command of bash, from its start until no process of it is left.

The command runs under a supervisor (supervisor.py) in a session of its own and ends when it is done, when its
time is up, or when the caller is cancelled; then all its descendants get TERM and after a grace KILL, those
that made themselves independent too. Should the service die, the supervisor does the same. Times are seconds.
"""

import asyncio
import contextlib
import json
import os
import secrets
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from onechat_runtime.clock import Clock

from onechat_agent.tools.output import KeptOutput

GRACE_S: Final = 0.5  #: between TERM and KILL
_STOP_S: Final = 0.9  # how long a stop waits for the supervisor; it must be done within a second
_LAST_OUTPUT_S: Final = 0.3  # what holds the output open when no process is left is none of the command's
_OUTPUT, _REPORT, _EXIT = 1, 2, -1  # what must have come to its end
_MARK: Final = "ONECHAT_COMMAND"  # in the environment of each of its processes
_PASSES: Final = 50
_UMASK: Final = 0o022  # the user's own files, made as a login shell makes them
_ROOM: Final = str(Path(__file__).parents[2])  # where onechat_agent lies
_START: Final = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from onechat_agent.tools.supervisor import main; sys.exit(main())"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What shall run, and within what."""

    text: str
    folder: Path
    environment: Mapping[str, str]  #: all of it
    landlock: int  #: the kernel's version; 0: without
    closed: tuple[Path, ...] = ()  #: out of its reach
    readable: tuple[Path, ...] = ()  #: for reading only
    writable: tuple[Path, ...] = ()  #: within its reach though beneath a closed one


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What became of a command; one of `status`, `signal`, `failed` is set."""

    output: KeptOutput
    timed_out: bool
    status: int | None = None  #: its exit status
    signal: int | None = None  #: what killed it
    failed: str | None = None  #: why it did not begin, or why nothing is known of its end


async def run_command(command: Command, *, clock: Clock, limit_s: float) -> Ended:
    """Run it to its end, at most `limit_s`. When cancelled, all its processes end within a second."""
    loop = asyncio.get_running_loop()
    mark = secrets.token_hex(16)
    transport, talk = await loop.subprocess_exec(
        lambda: _Talk(loop),
        *(sys.executable, "-I", "-S", "-c", _START, _ROOM),
        env={**command.environment, _MARK: mark},
        start_new_session=True,
    )
    timer = loop.create_task(clock.sleep(limit_s))
    control = cast(asyncio.WriteTransport, transport.get_pipe_transport(0))
    try:
        control.write(_order(command))
        await asyncio.wait({talk.over, timer}, return_when=asyncio.FIRST_COMPLETED)
        timed_out = not talk.over.done()
    finally:
        timer.cancel()
        control.close()
        try:
            await _through(loop.create_task(_gone(talk, mark)))
        finally:
            if not talk.report:  # even the wait for the end was broken off
                _kill_marked(mark)
            transport.close()  # which would kill a supervisor before its work is done
    return Ended(output=talk.output, timed_out=timed_out, **talk.told())


async def _gone(talk: "_Talk", mark: str) -> None:
    """Return once the supervisor has reported, or once its processes are killed in its stead."""
    await asyncio.wait({talk.over}, timeout=_STOP_S)
    if not talk.report:
        await asyncio.to_thread(_kill_marked, mark)
        await asyncio.wait({talk.over}, timeout=_LAST_OUTPUT_S)


async def _through(ending: asyncio.Task[None]) -> None:
    """Wait for `ending` to the end; a second cancellation on the way is raised afterwards."""
    again: asyncio.CancelledError | None = None
    while not ending.done():
        try:
            await asyncio.wait({ending})
        except asyncio.CancelledError as cancelled:
            again = cancelled
    if again is not None:
        raise again


def _order(command: Command) -> bytes:
    """The line that the supervisor begins with."""
    order = {
        "command": command.text,
        "folder": str(command.folder),
        "grace_s": GRACE_S,
        "umask": _UMASK,
        "landlock": command.landlock,
        "closed": [str(path) for path in command.closed],
        "readable": [str(path) for path in command.readable],
        "writable": [str(path) for path in command.writable],
    }
    return json.dumps(order).encode() + b"\n"


class _Talk(asyncio.SubprocessProtocol):
    """What comes from a supervisor: output of the command, then the report."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._open = {_OUTPUT, _REPORT, _EXIT}
        self.over: asyncio.Future[None] = loop.create_future()
        self.output = KeptOutput()
        self.report = b""

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == _OUTPUT:
            self.output.add(data)
        else:
            self.report = (self.report + data)[-10_000:]

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._closed(fd)

    def process_exited(self) -> None:
        self._loop.call_later(_LAST_OUTPUT_S, self._finish)
        self._closed(_EXIT)

    def told(self) -> dict[str, Any]:
        """The report's fields for Ended."""
        try:
            told: dict[str, Any] = json.loads(self.report)
        except ValueError:
            return {"failed": "the command was ended from outside, so its exit status is not known"}
        return told

    def _closed(self, what: int) -> None:
        self._open.discard(what)
        if not self._open:
            self._finish()

    def _finish(self) -> None:
        if not self.over.done():
            self.over.set_result(None)


def _kill_marked(mark: str) -> None:
    """Kill what carries `mark`: the last resort when a command has killed or halted its own supervisor."""
    wanted = f"{_MARK}={mark}".encode()
    for _ in range(_PASSES):  # what is killed may have started something meanwhile
        found = False
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if wanted in (process / "environ").read_bytes().split(b"\0"):
                    found = True
                    os.kill(int(process.name), signal.SIGKILL)
        if not found:
            return
