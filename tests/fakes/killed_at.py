"""Forked processes that kill themselves, by SIGKILL, at a named place, as the runtime's steps.py has them.

Who forks them and what they run: telegram_process.py, whatsapp_batches_process.py, whatsapp_sender.py.
"""

import asyncio
import os
import signal
from collections import Counter
from multiprocessing.process import BaseProcess

from onechat_runtime.steps import Reached


class KilledAt:
    """One run, from its start on."""

    def __init__(self, process: BaseProcess) -> None:
        self._process = process
        self._process.start()

    async def killed(self, within_s: float = 20.0) -> None:
        """Return once it has killed itself."""
        await asyncio.to_thread(self._process.join, within_s)
        assert self._process.exitcode == -signal.SIGKILL, f"ended with {self._process.exitcode}"

    async def kill(self) -> None:
        """SIGKILL, wherever it is."""
        self._process.kill()
        await asyncio.to_thread(self._process.join, 10)

    async def stop(self) -> int | None:
        """SIGTERM; its exit code."""
        self._process.terminate()
        await asyncio.to_thread(self._process.join, 15)
        return self._process.exitcode


def killer(place: str, nth: int = 1) -> Reached:
    """What kills its own process at the `nth` pass of `place`; at no place, where that is empty."""
    passed: Counter[str] = Counter()

    def reached(name: str) -> None:
        passed[name] += 1
        if name == place and passed[name] == nth:
            os.kill(os.getpid(), signal.SIGKILL)

    return reached
