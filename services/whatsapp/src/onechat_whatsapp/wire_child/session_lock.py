"""Keeps a second process off the session: WhatsApp would end one of two connections.

The lock is a file beside the session, held by the process until it ends, however it ends.
"""

import asyncio
import fcntl
import os
from pathlib import Path
from typing import Final

from onechat_whatsapp.wire.ports import DialFailed

WAIT_S: Final = 8.0  # a gateway that was killed leaves a child that ends within moments
_LOOK_S: Final = 0.05


class SessionLock:
    """The lock of the session at `path`."""

    def __init__(self, path: Path) -> None:
        self._path = Path(f"{path}.lock")
        self._descriptor: int | None = None

    async def hold(self, wait_s: float = WAIT_S) -> None:
        """Take it, once for the life of this process. Raises DialFailed when another holds it for
        `wait_s`."""
        if self._descriptor is not None:
            return
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            async with asyncio.timeout(wait_s):
                while not _locked(descriptor):  # noqa: ASYNC110 - another process's end tells nobody
                    await asyncio.sleep(_LOOK_S)
        except BaseException as error:
            os.close(descriptor)
            if isinstance(error, TimeoutError):
                raise DialFailed("another process holds the session") from error
            raise
        self._descriptor = descriptor


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
