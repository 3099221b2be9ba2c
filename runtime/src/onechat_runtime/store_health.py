"""What a store tells whoever looks at its service's health: no room, a file that was taken away, damage.

Damage is told when a job meets it, when its service finds it, or when the integrity check does, which reads
the whole store after an unclean end. What a start refuses: store_opening.py. The board: health.py.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import apsw

from onechat_runtime import logs
from onechat_runtime.health import HealthBoard

_FULL: Final = "store_full"
_DAMAGED: Final = "store_damaged"
_DAMAGE: Final = (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError)  # SQLite checks no text

log = logs.get("onechat.store")

_Rows = list[tuple[Any, ...]]
_Check = Callable[[apsw.Connection], _Rows]


class StoreHealth:
    """The troubles of the store at `path`, which is there; without a board they go to the log alone."""

    def __init__(self, path: Path, board: HealthBoard | None) -> None:
        self._path = path
        self._board = board
        self._file = _identity(path)

    def settled(self, full: bool) -> None:
        """A commit has had its outcome; `full` says that there was no room for it."""
        if self._board is not None and full and self.gone():
            self._board.trouble(
                _FULL,
                f"The store {self._path} was removed while it was in use: stop onechat, then put it back or"
                " restore a backup.",
            )
        elif self._board is not None and full:
            self._board.trouble(_FULL, f"The disk that holds {self._path} is full: free some space.")
        elif self._board is not None:
            self._board.clear(_FULL)

    def gone(self) -> bool:
        """Whether the file was taken away, or another one is in its place."""
        return _identity(self._path) != self._file

    def damaged(self, *found: str) -> None:
        """The store is not sound; `found` is for the log."""
        log.error("store_damaged", store=str(self._path), found=found)
        if self._board is not None:
            sentence = f"The store {self._path} is damaged: stop onechat and restore a backup."
            self._board.trouble(_DAMAGED, sentence)

    def job_done(self, done: "asyncio.Future[Any]") -> None:
        """For a job's future to call: damage that the job met is told here too."""
        error = None if done.cancelled() else done.exception()
        if isinstance(error, _DAMAGE):
            self.damaged(str(error))

    @contextmanager
    def telling_damage(self) -> Iterator[None]:
        """Damage that a job meets is told by the health too: its caller learns of a failure only."""
        try:
            yield
        except _DAMAGE as damage:
            self.damaged(str(damage))
            raise

    async def check_integrity(self, read_aside: Callable[[_Check], Awaitable[_Rows]]) -> None:
        """Read the whole store by `read_aside`, and tell what is damaged."""
        try:
            found = await read_aside(_integrity)
        except apsw.Error:
            found = []  # it cannot even be read through
        if found == [("ok",)]:
            log.info("store_checked", store=str(self._path))
            return
        self.damaged(*(str(row[0]) for row in found))


def _integrity(db: apsw.Connection) -> _Rows:
    """One row of the text "ok", or the first fault."""
    return db.execute("PRAGMA integrity_check(1)").fetchall()


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file is at `path`; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
