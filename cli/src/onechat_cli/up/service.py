"""One service as a child: its log, its ready line, and starting it again when it died. Times are seconds."""

import asyncio
import signal
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from onechat_runtime.clock import Clock

from onechat_cli.outcome import Exit
from onechat_cli.up.healthz import until_serving
from onechat_cli.up.log_files import RotatingLog
from onechat_cli.up.tethered import OUTPUT_READ_BYTES, Child, start

AGAIN_S: Final = (1.0, 60.0)  # the first pause before a start, doubling to the longest
STEADY_S: Final = 60.0  # who lived that long begins with the shortest pause again
SECRETS: Final = {"agent": ("OPENAI_API_KEY",), "telegram": ("TELEGRAM_TOKEN",)}  #: whose they are
_LAST_LINES: Final = 20
_OUTPUT_END_S: Final = 1.0  # what a service started may hold its output open for longer than it lives


class Refused(Exception):
    """A service says that it cannot start. Its text is what it said, a line each."""


class Service:
    """Keeps one service running until it refuses to start."""

    def __init__(
        self,
        name: str,
        *,
        module: str,
        address: str,
        environ: Mapping[str, str],
        log: RotatingLog,
        clock: Clock,
        say: Callable[[str, str], None],
        first_pause_s: float = AGAIN_S[0],
    ) -> None:
        """`say` gets the service's name and one line for a person."""
        self.name = name
        self._module = module
        self._address = address
        self._environ = environ
        self._log = log
        self._clock = clock
        self._say = say
        self._first_pause_s = first_pause_s
        self._child: Child | None = None
        self._pumping: asyncio.Task[None] | None = None
        self._last = deque[bytes](maxlen=_LAST_LINES)
        self.ready = asyncio.Event()  #: it has served since its latest start

    async def keep(self) -> None:
        """Run it, again and again. Raises Refused; cancelling it leaves the child to `end`."""
        pause = self._first_pause_s
        while True:
            began = self._clock.monotonic()
            code = await self._run_once()
            if code == Exit.REFUSED:
                raise Refused(self._last_words())
            if self._clock.monotonic() - began >= STEADY_S:
                pause = self._first_pause_s
            self._say(self.name, f"ended {_how(code)}; starting again in {pause:g} s; see {self._log.path}")
            await self._clock.sleep(pause)
            pause = min(pause * 2, AGAIN_S[1])

    async def end(self, grace_s: float) -> None:
        """End the child that runs, if one does, within `grace_s`."""
        if self._child is not None:
            await self._child.end(grace_s)
        if self._pumping is not None:
            await asyncio.wait({self._pumping}, timeout=_OUTPUT_END_S)
            self._pumping.cancel()
        self._log.close()

    async def _run_once(self) -> int:
        self.ready.clear()
        self._last.clear()
        child = await start(self._module, environ=self._environ, output=asyncio.subprocess.PIPE)
        self._child = child
        watching = asyncio.create_task(self._announce())
        self._pumping = asyncio.create_task(self._pump(child))
        try:
            code = await child.ended()
            await asyncio.wait({self._pumping}, timeout=_OUTPUT_END_S)
            return code
        finally:
            watching.cancel()

    async def _announce(self) -> None:
        await until_serving(self._address, self._clock)
        self.ready.set()
        self._say(self.name, f"ready at {self._address}")

    async def _pump(self, child: Child) -> None:
        """What the child prints goes into its log; its last lines are remembered."""
        output = child.process.stdout
        assert output is not None
        rest = b""
        while piece := await output.read(OUTPUT_READ_BYTES):
            self._log.write(piece)
            *lines, rest = (rest + piece).split(b"\n")
            rest = rest[-OUTPUT_READ_BYTES:]
            self._last.extend(lines)
        if rest:
            self._last.append(rest)

    def _last_words(self) -> str:
        """What a service that refused said to people: the lines after its last log line."""
        said: deque[str] = deque()
        for line in reversed(self._last):
            text = line.decode("utf-8", "replace").strip()
            if text.startswith("{") and said:
                break
            if text and not text.startswith("{"):
                said.appendleft(text.removeprefix(f"onechat {self.name}: "))
        return "\n".join(said) or f"it refused to start and did not say why; see {self._log.path}"


def _how(code: int) -> str:
    if code >= 0:
        return f"with exit code {code}"
    try:
        return f"by {signal.Signals(-code).name}"
    except ValueError:
        return f"by signal {-code}"


def own_environment(service: str, environ: Mapping[str, str], told: Mapping[str, str]) -> dict[str, str]:
    """What the child `service` gets: `environ` with `told` over it, without the others' secrets.

    The agent is told which files hold them, since it keeps its tools from them.
    """
    given = {**environ, **told, "PYTHONUNBUFFERED": "1"}
    given.pop("ONECHAT_TOKEN_FILE", None)  # the command's own; each service has one in the data folder
    for owner, names in SECRETS.items():
        if owner != service:
            for name in names:
                given.pop(name, None)
                if service != "agent":
                    given.pop(f"{name}_FILE", None)
    return given
