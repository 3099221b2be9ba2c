"""The real telegram service as a process that kills itself, by SIGKILL, at a named place of steps.py.

Forked from a process that has imported everything and used no gRPC, so that a test can afford many of them.
"""

import multiprocessing
import os
from collections.abc import Mapping
from pathlib import Path

from onechat_runtime.server import run_service
from onechat_telegram.__main__ import NAME, run
from onechat_telegram.config import TelegramSettings

from tests.fakes.killed_at import KilledAt, killer

_CONTEXT = multiprocessing.get_context("forkserver")
# With what the libraries import only once they are used.
_LATE = ["anyio._backends._asyncio", "h11", "httpcore", "uvloop"]
_CONTEXT.set_forkserver_preload(["onechat_telegram.__main__", __name__, *_LATE])


class TelegramProcess(KilledAt):
    """One run of the service; `place` is where it kills itself, at its `nth` pass, or nowhere."""

    def __init__(self, data: Path, environ: Mapping[str, str], place: str = "", nth: int = 1) -> None:
        super().__init__(
            _CONTEXT.Process(target=_serve, args=(str(data), dict(environ), place, nth), daemon=True)
        )


def _serve(data: str, environ: Mapping[str, str], place: str, nth: int) -> None:
    folder = Path(data)
    folder.mkdir(exist_ok=True)
    os.chdir(folder)
    log = os.open(folder / "telegram.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 2)
    for variable in [name for name in os.environ if name.startswith(("ONECHAT_", "TELEGRAM_"))]:
        del os.environ[variable]
    os.environ.update(environ | {"ONECHAT_DATA": data, "ONECHAT_TELEGRAM_ADDRESS": "127.0.0.1:0"})
    reached = killer(place, nth)
    raise SystemExit(run_service(NAME, TelegramSettings, lambda settings: run(settings, reached)))
