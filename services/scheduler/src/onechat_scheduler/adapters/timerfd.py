"""Linux's timerfd on the wall clock, which Python has from 3.13 on only; by ctypes. Instants are aware, UTC.

A timer is absolute, so the kernel rings it at its instant however the clock is set or slept through before,
and it is told when the clock was set. Source: timerfd_create(2), linux/timerfd.h.
"""

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from datetime import datetime
from types import TracebackType
from typing import Any, Final, Self

from onechat_runtime.clock import micros

_CLOCK_REALTIME: Final = 0
_TFD_TIMER_ABSTIME: Final = 1
_TFD_TIMER_CANCEL_ON_SET: Final = 2
_NONBLOCK_CLOEXEC: Final = os.O_NONBLOCK | os.O_CLOEXEC  # TFD_NONBLOCK and TFD_CLOEXEC are the same numbers
_MICROS_MAX: Final = 9_000_000_000 * 1_000_000  # the year 2255; the kernel counts nanoseconds in 64 bits
_READ_BYTES: Final = 8


class NoTimer(Exception):
    """This machine has no timerfd."""


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _Itimerspec(ctypes.Structure):
    _fields_ = (("interval", _Timespec), ("value", _Timespec))


class TimerFd:
    """One timer of the kernel; a context manager that closes it. Raises NoTimer where there is none."""

    def __init__(self) -> None:
        self._libc = _libc()
        self._file: int = self._libc.timerfd_create(_CLOCK_REALTIME, _NONBLOCK_CLOEXEC)
        if self._file < 0:
            raise NoTimer(os.strerror(ctypes.get_errno()))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def fileno(self) -> int:
        """The descriptor, readable once the timer has rung or the clock was set."""
        return self._file

    def arm(self, instant: datetime | None) -> bool:
        """Ring at `instant`, at once if that is past; None: only when the clock is set.

        False when the clock was set since the last look; then it may ring or not, and whoever waits looks
        anew. An instant that the kernel cannot count to rings in 2255.
        """
        seconds, rest = divmod(
            _MICROS_MAX if instant is None else min(micros(instant), _MICROS_MAX), 1_000_000
        )
        # All zero would disarm it, and an instant before 1970 is none of its own.
        value = (
            _Timespec(seconds, rest * 1000) if seconds >= 0 and (seconds, rest) > (0, 0) else _Timespec(0, 1)
        )
        flags = _TFD_TIMER_ABSTIME | _TFD_TIMER_CANCEL_ON_SET
        new = _Itimerspec(_Timespec(0, 0), value)
        if self._libc.timerfd_settime(self._file, flags, ctypes.byref(new), None) == 0:
            return True
        number = ctypes.get_errno()
        if number == errno.ECANCELED:
            return False
        raise OSError(number, os.strerror(number))

    def take(self, read: Callable[[int, int], bytes] = os.read) -> bool:
        """Take the ring, or the news that the clock was set; False when there is neither."""
        try:
            read(self._file, _READ_BYTES)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno != errno.ECANCELED:
                raise
        return True


def _libc() -> Any:
    if sys.platform != "linux":
        raise NoTimer(sys.platform)
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        libc.timerfd_settime.argtypes = (
            ctypes.c_int,
            ctypes.c_int,
            ctypes.POINTER(_Itimerspec),
            ctypes.c_void_p,
        )
        libc.timerfd_create.argtypes = (ctypes.c_int, ctypes.c_int)
    except AttributeError:
        raise NoTimer("libc") from None
    return libc
