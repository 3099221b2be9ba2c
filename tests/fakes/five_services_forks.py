"""A process that has imported every service and used no gRPC, and forks one when told, in milliseconds.

    python -m tests.fakes.five_services_forks

Orders are JSON lines on standard input: {"start": N, "program", "arguments", "environ", "folder", "log",
"file_limit"} and {"signal": PID, "number"}. Answers are lines on standard output: {"ready": true},
{"started": N, "pid"} and {"ended": PID, "code"}. All children end with it. Its parent: five_services.py.
"""

import ctypes
import gc
import json
import os
import resource
import select
import signal
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final, NoReturn

from onechat_agent.model.rehearsal import rehearse

from tests.fakes import five_services_census, five_services_points, whatsapp_forked

PROGRAMS: Final = ("agent", "memory", "whatsapp", "telegram", "scheduler", "demo")
_WITH_SERVICES: Final = ("uvloop", "dotenv.parser")  # what a service imports only once it runs
_PR_SET_PDEATHSIG: Final = 1
_FILES_MAX: Final = 256


def main() -> None:
    """Forks until standard input ends."""
    for program in PROGRAMS:
        import_module(f"onechat_{program}.__main__")
    for module in _WITH_SERVICES:
        import_module(module)
    rehearse()  # the openai package loads some of itself at its first call
    gc.collect()
    gc.freeze()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    _say({"ready": True})
    running: set[int] = set()
    rest = b""
    while True:
        readable, _, _ = select.select([0, woken], [], [])
        if woken in readable:
            os.read(woken, 4096)
            for pid, code in _ended():
                running.discard(pid)
                _say({"ended": pid, "code": code})
        if 0 in readable:
            piece = os.read(0, 65536)
            if not piece:
                break
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                _obey(json.loads(line), running)
    for pid in running:
        os.kill(pid, signal.SIGKILL)


def _obey(order: dict[str, Any], running: set[int]) -> None:
    if "signal" in order:
        if order["signal"] in running:  # else it has ended, and its number may be another's
            os.kill(order["signal"], order["number"])
        return
    pid = os.fork()
    if pid == 0:
        _become(order)
    running.add(pid)
    _say({"started": order["start"], "pid": pid})


def _ended() -> Iterator[tuple[int, int]]:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, os.waitstatus_to_exitcode(status)


def _become(order: dict[str, Any]) -> NoReturn:
    """The child: the program that was asked for, and nothing that came from here but its imports."""
    code = 70
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        nowhere = os.open(os.devnull, os.O_RDONLY)
        for file, target in ((nowhere, 0), (log, 1), (log, 2)):
            os.dup2(file, target)
        os.closerange(3, _FILES_MAX)
        os.chdir(order["folder"])
        os.environ.clear()
        os.environ.update(order["environ"])
        sys.argv = [order["program"], *order["arguments"]]
        if order["file_limit"] is not None:  # bytes of any one file; to who writes, the disk is full
            resource.setrlimit(resource.RLIMIT_FSIZE, (order["file_limit"],) * 2)
        five_services_points.install_from(os.environ)
        five_services_census.install_from(os.environ)
        whatsapp_forked.install_from(os.environ)
        code = import_module(f"onechat_{order['program']}.__main__").main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException as error:
        print(f"the forked {order['program']} failed: {error!r}", file=sys.stderr)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _say(answer: dict[str, Any]) -> None:
    os.write(1, json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main()
