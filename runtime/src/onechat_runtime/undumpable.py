"""Keeps a process's memory and environment, with the secrets in them, from others of its user.

The kernel lets any process of the same user read both in /proc, a command of the agent's shell too.
"""

import ctypes
from typing import Final

_SET_DUMPABLE: Final = 4  # for prctl


def protect_process() -> bool:
    """Make this process undumpable, which hides both; whether the kernel has done so."""
    try:
        return bool(ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0) == 0)
    except (OSError, AttributeError):  # no Linux
        return False
