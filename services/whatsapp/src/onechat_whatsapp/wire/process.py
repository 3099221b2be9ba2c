"""One child process that holds the session: its start, the calls to it, what comes from it, its end.

It speaks frames over its standard input and output. It ends by itself when its input does, so it never
outlives the gateway. Who starts it, and when a new one: supervisor.py.
"""

import asyncio
import contextlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from onechat_whatsapp.wire.calls import Answer, Call, without_numbers
from onechat_whatsapp.wire.codec import answer_in, body_of_call, event_in
from onechat_whatsapp.wire.events import WireEvent
from onechat_whatsapp.wire.frames import FrameBroken, Kind, frame, read_frame
from onechat_whatsapp.wire.ports import WireGone

SAID_MAX: Final = 200  # characters of its own last words that are kept
# What it may know of the gateway's environment: no token and no setting is among them.
PASSED: Final = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TZ",
    "PYTHONPATH",
    "PYTHONDONTWRITEBYTECODE",
    "LD_LIBRARY_PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTPS_PROXY",
)


# Read by the library as it is loaded: else each private message carries a bot's mark.
SET: Final = {"NEONIZE_BOT_TAG": "off"}


class NeverAsked(WireGone):
    """The process was gone before the call could be given to it, so nothing of it happened."""


class WireProcess:
    """A child that runs. Make one with `begin`."""

    def __init__(self, process: asyncio.subprocess.Process, emit: Callable[[WireEvent], None]) -> None:
        self._process = process
        self._emit = emit
        self._calls: dict[int, asyncio.Future[Answer]] = {}
        self._last_number = 0
        self._said = ""
        self._gone = ""
        self.ended = asyncio.ensure_future(self._watch())  #: done with why it ended, a line for a log

    @classmethod
    async def begin(
        cls, command: Sequence[str], environment: Mapping[str, str], emit: Callable[[WireEvent], None]
    ) -> "WireProcess":
        """Start `command` with the named few of `environment`; `emit` gets its events, in order.

        Raises WireGone where it can't be started.
        """
        kept = {name: environment[name] for name in PASSED if name in environment} | SET
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=pipe, stdout=pipe, stderr=pipe, env=kept, start_new_session=True
            )
        except OSError as error:
            raise WireGone(f"the process could not be started: {error.strerror}") from error
        return cls(process, emit)

    @property
    def runs(self) -> bool:
        """Whether it may still be asked."""
        return not self._gone

    async def call(self, call: Call, within_s: float) -> Answer:
        """Its answer. Raises NeverAsked, and WireGone when it ends or `within_s` pass without an answer."""
        if self._gone:
            raise NeverAsked(self._gone)
        self._last_number += 1
        number = self._last_number
        waits = self._calls[number] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(within_s):
                await self._write(frame(Kind.CALL, body_of_call(number, call)))
                answer: Answer = await waits
                return answer
        except TimeoutError as error:
            raise WireGone(f"no answer within {within_s:g} s") from error
        finally:
            self._calls.pop(number, None)

    async def end(self, grace_s: float) -> None:
        """Close its input, which ends it; by SIGKILL when it still runs after `grace_s`."""
        stdin = self._process.stdin
        if stdin is not None:
            stdin.close()
        try:
            async with asyncio.timeout(grace_s):
                await asyncio.shield(self.ended)
        except TimeoutError:
            await self.kill()

    async def kill(self) -> None:
        """End it by SIGKILL; returns once it is gone and all that it wrote was read."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await asyncio.shield(self.ended)

    async def _write(self, framed: bytes) -> None:
        stdin = self._process.stdin
        if stdin is None:
            raise NeverAsked("it has no input")
        with contextlib.suppress(ConnectionError):  # it ends just now, which `ended` will tell
            stdin.write(framed)
            await stdin.drain()

    async def _watch(self) -> str:
        broken = ""
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._listen())
                both.create_task(self._overhear())
        except* FrameBroken as group:
            broken = str(group.exceptions[0])
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        code = await self._process.wait()
        self._gone = broken or self._why(code)
        for waits in self._calls.values():
            if not waits.done():
                waits.set_exception(WireGone(self._gone))
        return self._gone

    async def _listen(self) -> None:
        stdout = self._process.stdout
        while stdout is not None and (read := await read_frame(stdout)):
            kind, body = read
            if kind is Kind.EVENT:
                self._emit(event_in(body))
            elif kind is Kind.ANSWER:
                number, answer = answer_in(body)
                waits = self._calls.get(number)  # none where nobody waits any more
                if waits and not waits.done():
                    waits.set_result(answer)
            else:
                raise FrameBroken("a call from the wrong side")

    async def _overhear(self) -> None:
        """Keep the line that says why it fails; numbers in it may be somebody's, so they are struck out."""
        stderr = self._process.stderr
        while stderr is not None and (read := await stderr.read(65_536)):
            for line in read.decode(errors="replace").splitlines():
                if re.match(r"panic: |fatal error: |\w+Error: ", line):
                    self._said = without_numbers(line)[:SAID_MAX]

    def _why(self, code: int) -> str:
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"the process ended with {how}{': ' if self._said else ''}{self._said}"


def own_environment() -> Mapping[str, str]:
    """The gateway's environment, of which `begin` takes its few."""
    return os.environ
