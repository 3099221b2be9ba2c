"""Run a module as a child that ends when its parent ends, even by SIGKILL.

    python -m onechat_cli.up.child FD PARENT MODULE [ARGUMENT…]

FD is the reading end of a pipe whose writing end the parent alone holds: its end means that the parent is
gone. The module then gets SIGTERM (on Linux from the kernel too), and SIGKILL when it still runs 10 s later.
"""

import ctypes
import os
import runpy
import signal
import sys
import threading
import time
from typing import Final

GRACE_S: Final = 10.0
_PR_SET_PDEATHSIG: Final = 1  # prctl(2)


def main(arguments: list[str]) -> None:
    """Watch the parent, then become the module."""
    pipe, parent, module = int(arguments[0]), int(arguments[1]), arguments[2]
    os.set_inheritable(pipe, False)
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(0)  # it ended before it could be watched
    threading.Thread(target=_watch, args=(pipe,), name="parent-watch", daemon=True).start()
    sys.argv = [module, *arguments[3:]]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _watch(pipe: int) -> None:
    while os.read(pipe, 1):
        pass
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # nobody reads them any more; a write must not fail while the service drains
        os.dup2(nowhere, stream)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_S)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1:])
