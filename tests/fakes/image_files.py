"""What a memory service has of images: the files in its folder, its rows, and how it refuses one."""

from pathlib import Path

import pytest
from grpc import StatusCode
from onechat_runtime.errors import RemoteError

from tests.fakes.memory_server import MemoryServer


def files(folder: Path) -> dict[str, bytes]:
    """The content of each file, by its name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def rows(memory: MemoryServer) -> list[tuple[object, ...]]:
    """Name, checksum, size and time of each image, in the order of their names."""
    every = "SELECT name, sha256, size, time FROM images ORDER BY name"
    return memory.store.read(lambda db: db.execute(every).fetchall())


def check_refused(refused: pytest.ExceptionInfo[RemoteError], code: StatusCode, reason: str) -> None:
    """AssertionError unless it was refused with this status and reason."""
    assert (refused.value.code, refused.value.reason) == (code, reason)
