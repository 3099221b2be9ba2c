"""A picture of the user's own, read from its file in pieces. Sizes are bytes."""

import asyncio
import os
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

SIZE_MAX: Final = 20_000_000  # the agent's limit, said before anything is sent
PIECE: Final = 65_536


class NoPicture(Exception):
    """The file cannot be sent; its text is a sentence for the user."""


@asynccontextmanager
async def opened(path: str) -> AsyncIterator[AsyncIterator[bytes]]:
    """The pieces of the file at `path`, where `~` is the user's home. Raises NoPicture."""
    try:
        file = await asyncio.to_thread(_open, path)
    except (OSError, RuntimeError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "no such path"
        raise NoPicture(f"{path} cannot be read: {why}.") from None
    try:
        yield _pieces(path, file)
    finally:
        os.close(file)


def _open(path: str) -> int:
    file = os.open(Path(path).expanduser(), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    found = os.fstat(file)
    try:
        if not stat.S_ISREG(found.st_mode):
            raise NoPicture(f"{path} is no file.")
        if found.st_size > SIZE_MAX:
            raise NoPicture(f"{path} is larger than {SIZE_MAX // 1_000_000} MB: make it smaller first.")
    except NoPicture:
        os.close(file)
        raise
    return file


async def _pieces(path: str, file: int) -> AsyncIterator[bytes]:
    try:
        while piece := await asyncio.to_thread(os.read, file, PIECE):
            yield piece
    except OSError as error:
        raise NoPicture(f"{path} cannot be read: {error.strerror}.") from None
