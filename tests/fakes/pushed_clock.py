"""A clock that several processes share: the machine's, and ahead of it by as much as a test has pushed it.

Its place is a file of eight bytes. Times are seconds.
"""

import asyncio
import mmap
import struct
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

_LOOK_S: Final = 0.02  # at how far it was pushed, while somebody sleeps
_AHEAD: Final = struct.Struct("=d")


class PushedClock:
    """Keeps the promises of the runtime's Clock; it never goes back."""

    def __init__(self, file: Path) -> None:
        if not file.exists():
            file.write_bytes(_AHEAD.pack(0.0))
        with file.open("r+b") as opened:
            self._page = mmap.mmap(opened.fileno(), _AHEAD.size)

    @property
    def ahead(self) -> float:
        """By how much it was pushed in all."""
        return float(_AHEAD.unpack(self._page[:])[0])

    def push(self, seconds: float) -> None:
        """For everybody, so much time has passed at once. One process alone does this."""
        self._page[:] = _AHEAD.pack(self.ahead + seconds)

    def now(self) -> datetime:
        """See Clock."""
        return datetime.now(UTC) + timedelta(seconds=self.ahead)

    def monotonic(self) -> float:
        """See Clock."""
        return time.monotonic() + self.ahead

    async def sleep(self, seconds: float) -> None:
        """See Clock; a push is noticed within 20 ms."""
        end = self.monotonic() + seconds
        while (left := end - self.monotonic()) > 0:
            await asyncio.sleep(min(left, _LOOK_S))
