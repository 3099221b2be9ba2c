"""The shell as an ordinary user runs it, for tests that run as root: a driver in a process of its own.

Root reads and ends whatever it likes, so what root's tests show says little of a user's machine. Seconds.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

NOBODY: Final = 65534  # user and group
DRIVER_S: Final = 60.0
_DRIVER: Final = """
import asyncio, json, os, sys, time
from pathlib import Path
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import TurnId
from onechat_agent.tools.fence import Fence
from onechat_agent.tools.landlock import landlock_version
from onechat_runtime.undumpable import protect_process
from onechat_agent.tools.shell import ShellTool
from onechat_agent.tools.tool import CallContext
from onechat_runtime.clock import SystemClock

async def run(order):
    folder = Path(order["folder"])
    fence = Fence(closed=tuple(folder / one for one in order["closed"]))
    shell = ShellTool(
        fence, environ=os.environ, clock=SystemClock(),
        landlock=landlock_version() if order["landlock"] else 0, limit_s=order["limit_s"],
    )
    context = CallContext(
        agent=AgentId("a"), agent_name="One", memory_of=AgentId("a"), turn=TurnId("1"), call_key="k",
        backed=True, tainted=False, hops=0, workdir=folder,
    )
    for command in order["commands"]:
        began = time.monotonic()
        result = await shell.run(context, {"command": command.replace("SERVICE", str(os.getpid()))})
        print(json.dumps([result.text, time.monotonic() - began]), flush=True)

protect_process()
asyncio.run(run(json.loads(sys.stdin.read())))
"""


@cache
def interpreter() -> str | None:
    """A Python of this one's version that nobody can run with what is installed here; None without any."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    found = [sys.executable, *(f"{folder}/{version}" for folder in ("/usr/local/bin", "/usr/bin", "/bin"))]
    return next((one for one in found if _can_run(one)), None)


def _can_run(python: str) -> bool:
    try:
        done = subprocess.run(
            [python, "-c", "import onechat_agent.tools.shell"], capture_output=True, **_as_nobody({})
        )
    except OSError:
        return False
    return done.returncode == 0


def _as_nobody(environ: Mapping[str, str]) -> dict[str, Any]:
    """How a process is started as nobody, with this one's packages and its own library."""
    packages = [path for path in sys.path if "site-packages" in path or not path.startswith(sys.base_prefix)]
    return {
        "cwd": "/",
        "env": {"PYTHONPATH": os.pathsep.join(packages), "PATH": os.environ["PATH"], **environ},
        "user": NOBODY,
        "group": NOBODY,
        "extra_groups": [],
        "timeout": DRIVER_S,
    }


def run_as_nobody(
    folder: Path,
    commands: Sequence[str],
    *,
    environ: Mapping[str, str],
    closed: Sequence[str] = (),
    landlock: bool = True,
    limit_s: float = 30.0,
) -> list[tuple[str, float]]:
    """(what the shell tool gave, seconds) of each command, run in `folder` by a service that is nobody's.

    `SERVICE` in a command is that service's process id; `environ` its environment; `closed` what in `folder`
    is closed to tools.
    """
    order: dict[str, Any] = {
        "folder": str(folder),
        "commands": list(commands),
        "closed": list(closed),
        "landlock": landlock,
        "limit_s": limit_s,
    }
    python = interpreter()
    assert python is not None
    done = subprocess.run(
        [python, "-c", _DRIVER],
        input=json.dumps(order),
        capture_output=True,
        text=True,
        check=True,
        **_as_nobody(environ),
    )
    return [(text, seconds) for text, seconds in map(json.loads, done.stdout.splitlines())]
