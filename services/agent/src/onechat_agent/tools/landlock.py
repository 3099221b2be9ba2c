"""Landlock: how a Linux process gives up paths for itself and for all that it starts.

Landlock knows only grants, which hold for all that is beneath a folder, so a closed folder is left out by
granting everything beside it, level by level from the root. The folders on the way to it cannot be granted
themselves: nothing new can be made directly in them, and what lies directly in them can be changed but not
removed. They can be listed, as all folders can.

Standard library only: the shell's supervisor uses it without anything installed. Numbers and structures:
linux/landlock.h and linux/prctl.h.
"""

import ctypes
import os
import stat
from collections.abc import Iterator
from typing import Final

_CREATE_RULESET: Final = 444  # the same on every architecture
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_GIVE_VERSION: Final = 1
_PATH_BENEATH: Final = 1
_NO_NEW_PRIVILEGES: Final = 38  # for prctl
_DROP_FROM_BOUNDS: Final = 24  # for prctl
_SEE_OTHERS: Final = (19, 21, 38)  # CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_PERFMON; linux/capability.h

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_UNTIL_VERSION_1: Final = (1 << 13) - 1  # all up to making symbolic links
_REFER: Final = 1 << 13  # renaming and linking across folders; version 2
_TRUNCATE: Final = 1 << 14  # version 3
_LOOKING: Final = _EXECUTE | _READ_FILE | _READ_DIR
_ON_FILES: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE


class _RulesetAttributes(ctypes.Structure):
    _fields_ = (("handled_access_fs", ctypes.c_uint64),)


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def landlock_version() -> int:
    """The kernel's version of Landlock; 0 where there is none or it is switched off."""
    try:
        return max(0, int(_libc().syscall(_CREATE_RULESET, None, 0, _GIVE_VERSION)))
    except (OSError, AttributeError):  # not Linux
        return 0


def restrict(closed: list[str], readable: list[str], writable: list[str], version: int) -> None:
    """Give up `closed` for good, but for what is in `readable` and `writable`; OSError if the kernel refuses.

    All are real paths. `readable` ones may be read only, wherever they lie. A closed path that does not exist
    is not guarded. Takes the calling thread alone, so call it where there is one.
    """
    libc = _libc()
    handled = _UNTIL_VERSION_1 | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    ruleset = libc.syscall(
        _CREATE_RULESET, ctypes.byref(_RulesetAttributes(handled)), ctypes.sizeof(_RulesetAttributes), 0
    )
    _check(ruleset)
    try:
        _grant(libc, ruleset, "/", _READ_DIR)
        for path in grants("/", [path for path in (*closed, *readable) if os.path.lexists(path)]):
            _grant(libc, ruleset, path, handled)
        for path in readable:
            _grant(libc, ruleset, path, _LOOKING)
        for path in writable:
            _grant(libc, ruleset, path, handled)
        for capability in _SEE_OTHERS:  # with these root reads any environment; others do not have them
            libc.prctl(_DROP_FROM_BOUNDS, capability, 0, 0, 0)
        _check(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _check(libc.syscall(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


def grants(folder: str, left_out: list[str]) -> Iterator[str]:
    """The highest paths in `folder` that hold nothing of `left_out`; symbolic links need no grant."""
    if not left_out:
        yield folder
        return
    if folder in left_out:
        return
    try:
        entries = list(os.scandir(folder))
    except OSError:  # what may not be listed is not granted
        return
    for entry in entries:
        if entry.is_symlink():
            continue
        within = [path for path in left_out if path == entry.path or path.startswith(entry.path + "/")]
        yield from grants(entry.path, within)


def _grant(libc: ctypes.CDLL, ruleset: int, path: str, access: int) -> None:
    """Add a grant; a path that is gone, or that may not even be named, is passed over."""
    try:
        fd = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            access &= _ON_FILES
        rule = _PathBeneath(access, fd)
        libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(fd)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
