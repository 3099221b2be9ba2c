"""Ports of this machine for servers that need to know theirs beforehand."""

import fcntl
import os
import socket
import tempfile
from functools import cache
from itertools import count
from pathlib import Path
from typing import Final

_LOWEST: Final = 10_000
_SPAN: Final = 20_000  # stays below the ports that the system gives to outgoing connections
_asked = count()
_claimed: set[int] = set()  # by this process


def free_ports(number: int) -> list[int]:
    """`number` ports that are free, and so are the ones 1,000 above them, where services have their pages.

    Each process begins elsewhere, and what it got is its own until it ends: a port is free until its server
    has started, and tests side by side must not take each other's in between.
    """
    start = os.getpid() * 131 + next(_asked) * 17
    found: list[int] = []
    for step in range(_SPAN):
        port = _LOWEST + (start + step * 7) % _SPAN
        if _is_free(port) and _is_free(port + 1000) and claimed(port, port + 1000):
            found.append(port)
        if len(found) == number:
            return found
    raise AssertionError("no free ports")


def claimed(*ports: int) -> bool:
    """Whether nobody has claimed any of `ports` before; then all are this process's until it ends."""
    if not _claimed.isdisjoint(ports):
        return False
    try:
        for port in ports:  # of each only one byte is locked
            fcntl.lockf(_claims(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except OSError:
        return False
    _claimed.update(ports)
    return True


@cache
def _claims() -> int:
    path = Path(tempfile.gettempdir()) / f"onechat-test-ports-{os.getuid()}"
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
