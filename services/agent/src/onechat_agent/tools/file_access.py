"""One text file at a time, within the fence: finding it, reading it, replacing it whole.

Everything here blocks and belongs in a worker thread. Sizes are bytes. A FileRefused is one line for the
model.
"""

import contextlib
import errno
import os
import secrets
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from onechat_agent.domain.binary import kind_of
from onechat_agent.tools.fence import Fence

READ_MAX: Final = 10_000_000  #: a larger file is not read by a tool
_FILE_MODE: Final = 0o644  # of new files and folders: the user's own, made as a login shell makes them,
_FOLDER_MODE: Final = 0o755  # whatever umask the service has for its stores
_CHANGES: Final = tuple(threading.Lock() for _ in range(64))
_CIRCLE: Final = "its links lead in a circle"
_SAID: Final = {errno.EAGAIN: "it has nothing to give", errno.ELOOP: _CIRCLE}


class FileRefused(Exception):
    """Why a file was not read or written."""


def locate(given: str, workdir: Path, fence: Fence) -> Path:
    """The path without links that `given` leads to; FileRefused if it is empty, or beyond the fence."""
    if not given.strip():
        raise FileRefused("The path is empty.")
    if given == "~" or given.startswith("~/"):
        raise FileRefused(
            f"{given}: ~ is not understood here; give the path from / or from the working directory."
        )
    real = Path(os.path.realpath(workdir / given))
    if fence.refuses(real):
        raise FileRefused(
            f"{given}: this belongs to the services (their stores and secrets) and is closed to tools."
        )
    if given.endswith("/") and not real.is_dir():
        raise FileRefused(f"{given}: a path that ends in / is a folder.")
    return real


def changing(real: Path) -> threading.Lock:
    """Held from reading to replacing: edits of one step run side by side and must not undo one another."""
    return _CHANGES[hash(real) % len(_CHANGES)]


def read_text(real: Path, fence: Fence, most: int = READ_MAX) -> str:
    """The text of the file at `real`, which `locate` gave; FileRefused when it has more than `most` bytes."""
    with _saying(real):
        _want_plain_file(real.lstat(), real)
        # Not blocking: some files of /proc and /sys wait for something to happen.
        fd = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC)
        with os.fdopen(fd, "rb", buffering=0):
            found = os.fstat(fd)
            _want_plain_file(found, real)
            _want_still_open(fd, real, fence)
            if found.st_size > most:
                raise _too_large(real, found.st_size, most)
            return _text_of(_all_of(fd, real, most), real)


def replace_text(real: Path, text: str, fence: Fence) -> bool:
    """Put `text` at `real` in one step, making folders on the way; whether a file was there before.

    It is written beside and renamed, so that a reader or a crash meets the old text or the new one. The mode
    stays; the owner where that is allowed.
    """
    with _saying(real):
        before = _standing(real)
        _make_folders(real.parent)
        folder = os.open(real.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _want_still_open(folder, real.parent, fence, name=real.name)
            _swap_in(folder, real.name, text.encode(), before)
        finally:
            os.close(folder)
        return before is not None


def _standing(real: Path) -> os.stat_result | None:
    """What is at `real`; FileRefused if it is no file or one that may not be written."""
    try:
        before = real.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    _want_plain_file(before, real)
    if not os.access(real, os.W_OK):
        raise FileRefused(f"{real}: it is write-protected.")
    return before


def _make_folders(folder: Path) -> None:
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        with contextlib.suppress(FileExistsError):
            each.mkdir()
            each.chmod(_FOLDER_MODE)


def _swap_in(folder: int, name: str, content: bytes, before: os.stat_result | None) -> None:
    """Write `content` to a new file in the open `folder` and rename it to `name`."""
    beside = f".{secrets.token_hex(8)}.new"
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        with os.fdopen(fd, "wb", buffering=0) as file:
            rest = memoryview(content)
            while rest:
                rest = rest[file.write(rest) :]
            if before is not None and (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                with contextlib.suppress(PermissionError):
                    os.fchown(fd, before.st_uid, before.st_gid)
            os.fchmod(fd, stat.S_IMODE(before.st_mode) if before is not None else _FILE_MODE)
            os.fsync(fd)
        os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(beside, dir_fd=folder)
        raise


def _want_plain_file(found: os.stat_result, real: Path) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise FileRefused(f"{real}: it is a folder, not a file.")
    if stat.S_ISLNK(found.st_mode):  # following links has not led to an end
        raise FileRefused(f"{real}: {_CIRCLE}.")
    if not stat.S_ISREG(found.st_mode):
        raise FileRefused(f"{real}: it is no plain file but a device, a pipe or a socket.")


def _want_still_open(fd: int, real: Path, fence: Fence, name: str = "") -> None:
    """Refuse what was exchanged for a link between the look at the path and the opening of it."""
    try:
        opened = Path(f"/proc/self/fd/{fd}").readlink()
    except OSError:  # no /proc: the look at the path is all there is
        return
    if opened != real and fence.refuses(opened / name):
        raise FileRefused(f"{real}: it changed while it was opened.")


def _all_of(fd: int, real: Path, most: int) -> bytes:
    """The open file's bytes; its size may be unknown, as in /proc."""
    pieces: list[bytes] = []
    size = 0
    while piece := os.read(fd, 1 << 20):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise _too_large(real, size, most)
    return b"".join(pieces)


def _text_of(content: bytes, real: Path) -> str:
    kind = kind_of(content)
    try:
        if b"\0" not in content:
            return content.decode()
    except UnicodeDecodeError:
        pass
    raise FileRefused(f"{real}: it is not a text file in UTF-8 but {kind}, {len(content):,} bytes.")


def _too_large(real: Path, size: int, most: int) -> FileRefused:
    return FileRefused(
        f"{real}: it is too large to be read whole ({size:,} bytes or more; at most {most:,}): "
        "take the part that matters with the shell."
    )


@contextlib.contextmanager
def _saying(real: Path) -> Iterator[None]:
    """Turns what the system says into a FileRefused."""
    try:
        yield
    except FileNotFoundError:
        raise FileRefused(f"{real}: there is no such file.") from None
    except (OSError, ValueError) as error:
        number = error.errno if isinstance(error, OSError) else None
        said = _SAID.get(number or 0) or (os.strerror(number).lower() if number else "it is no valid path")
        raise FileRefused(f"{real}: {said}.") from None
