"""Stored images: their files in a folder beside the store, and their rows (migrations/0003_images.sql).

A file is written under a name of its own, synced, then renamed, so that under an image's name there is never
half of one. Everything here blocks: images.py calls it from threads. Which types there are:
domain/image_types.py.
"""

import errno
import hashlib
import os
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import apsw
from onechat_runtime.clock import micros
from onechat_runtime.data_folder import DISK_FULL, claim_folder, unusable
from onechat_runtime.errors import StoreFull

from onechat_memory.domain.image_types import ImageName
from onechat_memory.errors import ImageDamaged

FOLDER: Final = "images"
PIECE: Final = 65_536  #: bytes, at most, of one read
_PREFIX, _SUFFIX = "incoming-", ".part"  # of a file that has no image's name yet
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NOT_THERE: Final = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.EIO, errno.EACCES, errno.EPERM}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredImage:
    """An image that was acknowledged."""

    name: ImageName
    sha256: bytes
    size: int  #: bytes


class ImageRows:
    """The table of images, within one transaction."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def find(self, name: ImageName) -> StoredImage | None:
        """The image of this name."""
        row = self._db.execute("SELECT sha256, size FROM images WHERE name = ?", (name,)).fetchone()
        return None if row is None else StoredImage(name=name, sha256=row[0], size=row[1])

    def add(self, image: StoredImage, now: datetime) -> None:
        """Keep `image`, which has no row yet."""
        self._db.execute(
            "INSERT INTO images (name, sha256, size, time) VALUES (?, ?, ?, ?)",
            (image.name, image.sha256, image.size, micros(now)),
        )


class IncomingFile:
    """A file that has no image's name yet. Calls from threads take turns; a closed one ignores them."""

    def __init__(self, folder: Path) -> None:
        """Create it, 0600, in `folder`. Raises StoreFull."""
        with _full_disk_said():
            self._file, path = tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=folder)
        self._path = Path(path)
        self._hash = hashlib.sha256()
        self._open = True
        self._turn = threading.Lock()
        self.size = 0

    @property
    def sha256(self) -> bytes:
        """Of all that was written."""
        return self._hash.digest()

    def write(self, content: bytes) -> None:
        """Append `content`. Raises StoreFull."""
        with self._turn, _full_disk_said():
            if not self._open:
                return
            self._hash.update(content)
            self.size += len(content)
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(self._file, rest) :]

    def sync(self) -> None:
        """Have all of it on disk. Raises StoreFull."""
        with self._turn, _full_disk_said():
            if self._open:
                os.fsync(self._file)

    def become(self, path: Path) -> None:
        """Take the name `path`, in the same folder, whatever has it; it is on disk then. Raises StoreFull."""
        with self._turn, _full_disk_said():
            self._path.replace(path)
            self._close()
            folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def discard(self) -> None:
        """Remove it, unless it has become an image."""
        with self._turn:
            if self._open:
                self._path.unlink(missing_ok=True)
                self._close()

    def _close(self) -> None:
        os.close(self._file)
        self._open = False


class OpenImage:
    """An image's file as it is read. Calls from several threads take turns."""

    def __init__(self, path: Path, image: StoredImage) -> None:
        """Raises ImageDamaged when the file is missing or not as large as it should be."""
        self._name = image.name
        with _damage_said(image.name):
            self._file = os.open(path, _READ)
        self._open = True
        self._turn = threading.Lock()
        found = os.fstat(self._file)
        if not stat.S_ISREG(found.st_mode) or found.st_size != image.size:
            self.close()
            raise damaged(image.name, f"its file has {found.st_size} bytes and should have {image.size}")

    def read(self) -> bytes:
        """The next piece; empty at the end. Raises ImageDamaged."""
        with self._turn, _damage_said(self._name):
            return os.read(self._file, PIECE) if self._open else b""

    def close(self) -> None:
        """Once is enough; more does no harm."""
        with self._turn:
            if self._open:
                os.close(self._file)
                self._open = False


class ImageFiles:
    """The folder of images, which this process alone writes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def prepare(self) -> None:
        """Make the folder, 0700, and remove what a killed process had begun. Raises StartRefused."""
        claim_folder(self._folder, private=True)
        try:
            for left in self._folder.glob(f"{_PREFIX}*{_SUFFIX}"):
                left.unlink(missing_ok=True)
        except OSError as error:
            raise unusable(self._folder, error) from None

    def receive(self) -> IncomingFile:
        """A new file to write into. Raises StoreFull."""
        return IncomingFile(self._folder)

    def path(self, name: ImageName) -> Path:
        """Where the image of this name lies."""
        return self._folder / name

    def open(self, image: StoredImage) -> OpenImage:
        """The image for reading; whoever reads checks its hash. Raises ImageDamaged."""
        return OpenImage(self.path(image.name), image)

    def intact(self, image: StoredImage) -> bool:
        """Whether the image's file holds what its row says."""
        try:
            file = self.open(image)
        except ImageDamaged:
            return False
        found = hashlib.sha256()
        try:
            while piece := file.read():
                found.update(piece)
        except ImageDamaged:
            return False
        finally:
            file.close()
        return found.digest() == image.sha256

    def remove(self, name: ImageName) -> None:
        """Remove the file of an image that got no row; one that cannot be removed does no harm."""
        with suppress(OSError):
            self.path(name).unlink()


def damaged(name: ImageName, why: str) -> ImageDamaged:
    """The refusal of an image whose file is not what was stored."""
    return ImageDamaged(
        f"The stored image {name} is damaged: {why}. Send the same picture again, or restore a backup."
    )


@contextmanager
def _full_disk_said() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in DISK_FULL:
            raise StoreFull from None
        raise


@contextmanager
def _damage_said(name: ImageName) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in _NOT_THERE:
            raise damaged(name, f"its file cannot be read ({error.strerror})") from None
        raise
