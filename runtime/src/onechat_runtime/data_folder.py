"""Folders that only this user may enter, and the lock that makes a process the only writer of a store.

Each fault is a StartRefused of one line. What is in a store: store.py.
"""

import errno
import fcntl
import os
import stat
from pathlib import Path
from typing import Final

from onechat_runtime.errors import StartRefused

# No space, a quota, and a limit on the size of a file: each ends when somebody makes room.
DISK_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_NO_ACCESS: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


def claim_folder(folder: Path, *, private: bool) -> None:
    """Make `folder` if need be, 0700, and refuse one that this user should not write into.

    With `private` an existing folder that others may enter is closed to them.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
        if found.st_uid != os.geteuid():
            raise StartRefused(
                f"{folder} belongs to another user (uid {found.st_uid}): run onechat as that user, "
                "or name another folder in ONECHAT_DATA."
            )
        if private and stat.S_IMODE(found.st_mode) != 0o700:
            folder.chmod(0o700)
    except (FileExistsError, NotADirectoryError):
        raise StartRefused(
            f"{folder} is not a folder: move that file away, or name another folder in ONECHAT_DATA."
        ) from None
    except OSError as error:
        raise unusable(folder, error) from None


def unusable(path: Path, error: OSError) -> StartRefused:
    """The line for a person when `path` could not be made, opened or written."""
    if error.errno in DISK_FULL:
        return disk_full(path)
    if error.errno in _NO_ACCESS:
        return StartRefused(
            f"{path} cannot be written ({error.strerror}): give this user write access, "
            "or name another folder in ONECHAT_DATA."
        )
    return StartRefused(
        f"{path} cannot be used: {error.strerror or error}. Mend it, or name another folder in ONECHAT_DATA."
    )


def disk_full(path: Path) -> StartRefused:
    """The line for a person when there is no room for `path`."""
    return StartRefused(f"The disk that holds {path} is full: free some space, then start again.")


class WriterLock:
    """Held for the life of a process; the file names its pid, and is empty after a clean end."""

    def __init__(self, path: Path) -> None:
        """Take the lock, or raise StartRefused that names who holds it."""
        self._path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise unusable(path, error) from None
        try:
            self.after_unclean_end = self._take()
        except BaseException:
            os.close(self._file)
            raise

    def _take(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._file, 20, 0).decode("ascii", "replace").strip()
            who = f"process {holder}" if holder else "another process"
            raise StartRefused(
                f"{self._path.parent} is in use by {who}: stop that one first, "
                "or name another folder in ONECHAT_DATA."
            ) from None
        try:
            left_behind = os.fstat(self._file).st_size > 0
            os.fchmod(self._file, 0o600)
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)
        except OSError as error:
            raise unusable(self._path, error) from None
        return left_behind

    def release(self, *, clean: bool) -> None:
        """Let the next process in; `clean` says that nothing was left half-done."""
        if clean:
            os.ftruncate(self._file, 0)
        os.close(self._file)
