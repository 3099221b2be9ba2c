"""SIGKILL while an image is stored: whole or not there at all, and the same picture can be sent again."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from onechat.memory.v1.memory_service_pb2_grpc import MemoryServiceStub
from onechat_runtime.channels import open_channel
from onechat_runtime.errors import RemoteError
from onechat_runtime.tokens import read_token

from tests.fakes.memory_server import MemoryServer, remembering
from tests.fakes.pictures import picture

PROGRAM = Path(__file__).parent / "programs" / "killable.py"
FIRST, SECOND = picture(300_000, seed=1), picture(300_000, seed=2)


@contextmanager
def killable(data: Path, point: str) -> Iterator[str]:
    """The service as a process that will kill itself; its address."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("ONECHAT_")}
    own |= {"ONECHAT_DATA": str(data), "ONECHAT_MEMORY_ADDRESS": "127.0.0.1:0"}
    command = [sys.executable, str(PROGRAM), point, "1"]
    with subprocess.Popen(command, env=own, cwd=data, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            ready = next(line for line in process.stderr if '"event": "ready"' in line)
            yield json.loads(ready)["address"]
            assert process.wait(timeout=10) == -signal.SIGKILL
        finally:
            process.kill()


class Remote(MemoryServer):
    """A memory service in another process."""

    def __init__(self, channel: Any) -> None:
        self.stub = MemoryServiceStub(channel)


@pytest.mark.parametrize(
    ("point", "files", "rows"),
    [
        ("image named", 1, 1),
        ("INSERT INTO images", 2, 1),
        ("uncommitted:INSERT INTO images", 2, 1),
        ("committed:INSERT INTO images", 2, 2),
    ],
)
async def test_a_killed_put_leaves_an_image_or_none_and_the_next_one_ends_it(
    tmp_path: Path, point: str, files: int, rows: int
) -> None:
    """`files` and `rows` tell that the point lies where it is meant to: the file comes before the row."""
    data = tmp_path / "data"
    data.mkdir()
    async with remembering(data) as memory:
        first = await memory.put_image(FIRST)
        folder = memory.store.path.parent / "images"
    with killable(data, point) as address:
        token = read_token(data / "tokens" / "agent")
        async with open_channel(address, token=token, name="memory") as channel:
            with pytest.raises(RemoteError):
                await Remote(channel).put_image(SECOND)

    async with remembering(data) as memory:
        named = sorted(path.name for path in folder.iterdir())
        kept = memory.store.read(lambda db: db.execute("SELECT count(*) FROM images").get)
        second = await memory.put_image(SECOND)

        assert (len(named), kept) == (files, rows)
        assert await memory.get_image(first.name) == FIRST
        assert await memory.get_image(second.name) == SECOND
        assert sorted(path.name for path in folder.iterdir()) == sorted([first.name, second.name])
