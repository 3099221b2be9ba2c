"""The memory service in a process that ends itself by SIGKILL at a named point, seen from outside.

The points: services/memory/tests/integration/programs/killable.py.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from onechat.memory.v1.memory_service_pb2_grpc import MemoryServiceStub

from tests.fakes.memory_server import MemoryServer

_PROGRAM: Final = Path(__file__).parents[2] / "services/memory/tests/integration/programs/killable.py"
_WITHIN_S: Final = 30.0


class Remote(MemoryServer):
    """A memory service in another process, by a channel to it."""

    def __init__(self, channel: Any) -> None:
        self.stub = MemoryServiceStub(channel)


@contextmanager
def killable(data: Path, point: str, number: int) -> Iterator[str]:
    """The service over `data` as a process; its address. Afterwards it must have been killed at `point`."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("ONECHAT_")}
    own |= {"ONECHAT_DATA": str(data), "ONECHAT_MEMORY_ADDRESS": "127.0.0.1:0"}
    command = [sys.executable, str(_PROGRAM), point, str(number)]
    with subprocess.Popen(command, env=own, cwd=data, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            ready = next(line for line in process.stderr if '"event": "ready"' in line)
            yield json.loads(ready)["address"]
            assert process.wait(timeout=_WITHIN_S) == -signal.SIGKILL
        finally:
            process.kill()
