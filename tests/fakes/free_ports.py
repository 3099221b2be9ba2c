"""Ports of this machine for servers that need to know theirs beforehand."""

import os
import socket
from itertools import count
from typing import Final

_LOWEST: Final = 10_000
_SPAN: Final = 20_000  # stays below the ports that the system gives to outgoing connections
_asked = count()


def free_ports(number: int) -> list[int]:
    """`number` ports that are free, and so are the ones 1,000 above them, where services have their pages.

    Each process begins elsewhere, so that tests side by side do not take each other's.
    """
    start = os.getpid() * 131 + next(_asked) * 17
    found: list[int] = []
    for step in range(_SPAN):
        port = _LOWEST + (start + step * 7) % _SPAN
        if _is_free(port) and _is_free(port + 1000):
            found.append(port)
        if len(found) == number:
            return found
    raise AssertionError("no free ports")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
