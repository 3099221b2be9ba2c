"""The command: `python -m onechat_demo --port N`.

It prints one line, `{"address": "http://127.0.0.1:N/v1"}`, once it serves. It ends on SIGTERM or SIGINT and,
with --parent-pipe, when its standard input closes, so that it never outlives the process that started it.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from onechat_demo.control import ControlRoutes
from onechat_demo.lacks import Lack
from onechat_demo.model import DemoModel
from onechat_demo.rules import Rules
from onechat_demo.server import ResponsesServer, Stage, serving


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs until it is told to end; 0, or 2 with one line on standard error when it cannot start."""
    options = _parser().parse_args(arguments)
    try:
        asyncio.run(_run(options))
    except BrokenPipeError:  # whoever started it is gone before it could be told the address
        # What is still in the buffer would be flushed again at the interpreter's end, and fail with a word.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"The demo model cannot listen on port {options.port}: {error.strerror}.", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m onechat_demo", description="The demo model: a local server with the Responses API."
    )
    parser.add_argument("--port", type=int, default=0, help="the port on 127.0.0.1; 0 (default): a free one")
    parser.add_argument(
        "--over-length",
        type=int,
        metavar="SEED",
        help="compaction lines of 0.8 to 1.35 times the asked length",
    )
    parser.add_argument(
        "--parent-pipe", action="store_true", help="end when standard input closes (the parent is gone)"
    )
    parser.add_argument(
        "--models", metavar="NAMES", help="the models there are, by commas; default: any name"
    )
    tests = parser.add_argument_group("for tests")
    tests.add_argument("--control", action="store_true", help="serve /control: scripts, requests, gates")
    tests.add_argument(
        "--lacks", metavar="NAMES", default="", help=f"what not to know, by commas: {', '.join(Lack)}"
    )
    return parser


async def _run(options: argparse.Namespace) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if options.parent_pipe:
        _stop_at_end_of_input(loop, stop)
    stage = Stage() if options.control else None
    rules = Rules(
        models=frozenset(options.models.split(",")) if options.models else None,
        lacks=frozenset(Lack(name) for name in options.lacks.split(",") if name),
    )
    model = DemoModel(over_length=options.over_length)
    app = ResponsesServer(rules=rules, model=model, now=time.time, stage=stage).application()
    if stage is not None:
        ControlRoutes(stage).add_to(app)
    async with serving(app, options.port) as address:
        print(json.dumps({"address": address}), flush=True)
        await stop.wait()


def _stop_at_end_of_input(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    """A thread that waits for the end of standard input: it works for pipes, files and terminals alike."""

    def wait() -> None:
        while os.read(sys.stdin.fileno(), 4096):
            pass
        with suppress(RuntimeError):  # the loop is closed: it ended by itself meanwhile
            loop.call_soon_threadsafe(stop.set)

    threading.Thread(target=wait, name="parent-pipe", daemon=True).start()


if __name__ == "__main__":
    sys.exit(main())
