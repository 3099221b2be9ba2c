"""The small program between the service and a shell command: it starts one command and ends all of it.

It makes itself the parent of whatever its descendants leave behind, so that none escapes by a session of
its own. Input: one line of JSON, the order (processes.py writes it); then nothing until the end of input,
which means: end everything now. Output: what the command prints. Error output: one line of JSON, how it went,
once no process is left. Standard library only; it runs as a program of its own because a fork with threads
around is not safe, and it holds no secret. It needs Linux: its prctl and its /proc.
"""

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
import time
from typing import Any, Final

from onechat_agent.tools.landlock import restrict

_SUBREAPER: Final = 36  # for prctl; linux/prctl.h
_LOOK_AGAIN_S: Final = 0.02
_GIVE_UP_S: Final = 5.0  # what a kill cannot end by then waits in the kernel for a device
_RESTORED: Final = (signal.SIGPIPE, signal.SIGXFSZ)  # Python ignores them, and children would inherit that


def main() -> int:
    """Run the order that comes in; 0 once it has been reported on."""
    order = json.loads(_first_line())
    report = os.dup(2)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    woken, wake = os.pipe()
    for end in (woken, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # only the end of input ends it
        signal.signal(ignored, lambda *_: None)
    told = _start(order, report)
    if isinstance(told, int):
        told = _watch(told, woken, order["grace_s"])
    os.write(report, json.dumps(told).encode() + b"\n")
    return 0


def _first_line() -> bytes:
    line = bytearray()
    while not line.endswith(b"\n"):
        piece = os.read(0, 1 << 16)
        if not piece:
            sys.exit(1)  # stopped before it began
        line += piece
    return bytes(line)


def _start(order: dict[str, Any], report: int) -> int | dict[str, Any]:
    """Fork and become bash in the child; its process id, or why there is no child."""
    try:
        os.chdir(order["folder"])
    except OSError as error:
        return {"failed": f"the working directory {order['folder']}: {os.strerror(error.errno or 0).lower()}"}
    failed, fail = os.pipe()  # closes by itself when bash begins
    child = os.fork()
    if child == 0:
        try:
            _become(order)
        except OSError as error:
            os.write(fail, f"bash: {os.strerror(error.errno or 0).lower()}".encode())
        finally:
            os._exit(127)
    os.close(fail)
    os.dup2(
        os.open(os.devnull, os.O_WRONLY), 1
    )  # so that the output ends with the last process that writes it
    said = os.read(failed, 1000)
    os.close(failed)
    if said:
        os.waitpid(child, 0)
        return {"failed": said.decode()}
    return child


def _become(order: dict[str, Any]) -> None:
    """Turn the child into the command: session, input, output, signals, umask, fence."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(1, 2)
    signal.set_wakeup_fd(-1)
    for number in _RESTORED:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.umask(order["umask"])
    if order["landlock"]:
        closed, readable, writable = (
            [os.path.realpath(path) for path in order[paths]] for paths in ("closed", "readable", "writable")
        )
        restrict(closed, readable, writable, order["landlock"])
    found = (f"{folder}/bash" for folder in os.get_exec_path())
    bash = next((path for path in found if os.access(path, os.X_OK)), "/bin/bash")
    os.execv(bash, [b"bash", b"-c", order["command"].encode(errors="replace")])  # noqa: S606 - bash is the point


def _watch(child: int, woken: int, grace_s: float) -> dict[str, Any]:
    """Wait for the command or for the end of input, then end what is left; what became of the command."""
    status: int | None = None
    waiting = [0, woken]
    while status is None:
        ready, _, _ = select.select(waiting, [], [])
        if woken in ready:
            _drain(woken)
            status = _reap().get(child)
        if 0 in ready and not os.read(0, 1 << 16):
            break
    ended = _end_all(woken, grace_s)
    status = ended.get(child, status)
    if status is None:
        return {"failed": "the command could not be ended"}
    if os.WIFSIGNALED(status):
        return {"signal": os.WTERMSIG(status)}
    return {"status": os.WEXITSTATUS(status)}


def _end_all(woken: int, grace_s: float) -> dict[int, int]:
    """TERM to every descendant, KILL after `grace_s`, until none is left; the statuses of the ended."""
    statuses: dict[int, int] = {}
    began = time.monotonic()
    asked: set[int] = set()
    while True:
        statuses.update(_reap())
        left = _descendants()
        if not left and _childless():
            return statuses
        past = time.monotonic() - began
        if past > grace_s + _GIVE_UP_S:
            return statuses
        for pid in left:
            with contextlib.suppress(OSError):
                if past >= grace_s:
                    os.kill(pid, signal.SIGKILL)
                elif pid not in asked:
                    os.kill(pid, signal.SIGTERM)
                    os.kill(pid, signal.SIGCONT)  # a halted one would not hear it
        asked.update(left)
        select.select([woken], [], [], _LOOK_AGAIN_S)
        _drain(woken)


def _reap() -> dict[int, int]:
    """Wait statuses of the children that have ended."""
    statuses: dict[int, int] = {}
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            statuses[pid] = status
    return statuses


def _childless() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def _descendants() -> list[int]:
    """Every living process that stems from this one, parents before their children."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - as below
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - pathlib would double the start's time
                after_name = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if after_name[0] not in (b"Z", b"X"):
            children.setdefault(int(after_name[1]), []).append(int(name))
    found = [os.getpid()]
    for pid in found:
        found.extend(children.get(pid, ()))
    return found[1:]


def _drain(fd: int) -> None:
    with contextlib.suppress(BlockingIOError):
        while os.read(fd, 4096):
            pass
