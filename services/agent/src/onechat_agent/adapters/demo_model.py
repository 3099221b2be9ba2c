"""The demo model as a child process on loopback; it ends when this process does, even by SIGKILL.

What it answers: the onechat_demo package, which only this starts. It is started again when it ends.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import StartRefused

START_S: Final = 30.0
AGAIN_S: Final = 1.0  # between two starts of a child that keeps ending
STOP_S: Final = 2.0

log = logs.get("onechat.agent")


class DemoModel:
    """The running child; use `demo_model`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._child: asyncio.subprocess.Process | None = None
        self.address = ""

    async def start(self, port: int) -> None:
        """Starts the child on `port` (0: a free one) and learns its address."""
        self._child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "onechat_demo",
            "--port",
            str(port),
            "--parent-pipe",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert self._child.stdout is not None
        try:
            async with asyncio.timeout(START_S):
                line = await self._child.stdout.readline()
            self.address = json.loads(line)["address"]
        except (TimeoutError, ValueError, KeyError):
            raise StartRefused("The demo model did not start. Its own line above says why.") from None

    async def keep_running(self) -> None:
        """Starts the child again, on the same port, whenever it ends."""
        while self._child is not None:
            code = await self._child.wait()
            log.warning("demo_model_ended", code=code)
            await self._clock.sleep(AGAIN_S)
            port = int(self.address.rsplit(":", 1)[1].partition("/")[0])
            try:
                await self.start(port)
            except (StartRefused, OSError):
                log.warning("demo_model_not_started")

    async def close(self) -> None:
        """Ends the child."""
        child, self._child = self._child, None
        if child is None or child.returncode is not None:
            return
        child.terminate()
        try:
            async with asyncio.timeout(STOP_S):
                await child.wait()
        except TimeoutError:
            child.kill()
            await child.wait()


@asynccontextmanager
async def demo_model(clock: Clock) -> AsyncIterator[DemoModel]:
    """The demo model, running; `address` is its base URL."""
    model = DemoModel(clock)
    try:
        await model.start(0)
        yield model
    finally:
        await model.close()
