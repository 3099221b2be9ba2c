"""A disk that a test fills or breaks: SQLite's own file system, but for what is written to it."""

from typing import Any

import apsw


class Disk(apsw.VFS):
    """Keeps what a disk keeps, until it has no room left or is `broken`. `unregister` it at the end.

    Without `waits` it answers a sync at once, which only a power cut could tell: for tests of many commits.
    """

    def __init__(self, name: str, *, waits: bool = True) -> None:
        super().__init__(name, "")
        self.waits = waits
        self.name = name  #: what a connection's `vfs` is
        self.room: int | None = None  #: writes to logs that still find room; None for any number
        self.full = False
        self.broken = False
        self.writes = 0  #: tried so far
        self.syncs = 0  #: of write-ahead logs

    def xOpen(self, name: Any, flags: list[int]) -> "_File":
        return _File(self, name, flags)

    def take_write(self, *, is_log: bool) -> None:
        """Raise what SQLite reports when a write fails, if this one does.

        `room` spares the store's own file: it is written once a commit is done, SQLite passes over a failure
        there, and apsw would report it as the commit's.
        """
        self.writes += 1
        if self.broken:
            raise Broken("it fails")
        if self.full or (self.room == 0 and is_log):
            raise apsw.FullError("no room left")
        if self.room is not None and is_log:
            self.room -= 1


class Broken(apsw.IOError):
    """What a disk that fails reports."""


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._disk = disk
        self._is_log = str(name.filename() if isinstance(name, apsw.URIFilename) else name).endswith("-wal")

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.take_write(is_log=self._is_log)
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        if self._is_log:
            self._disk.syncs += 1
        if self._disk.waits:
            super().xSync(flags)
