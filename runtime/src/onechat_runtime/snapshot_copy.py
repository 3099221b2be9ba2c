"""A packed copy of a store, as an open read transaction sees it; made in a thread of its own.

SQLite's backup API copies through the transaction, so what is written meanwhile is not in it; then `prune`
deletes what must not be in it, the whole is checked, and VACUUM INTO packs it, which leaves nothing of what
was deleted. The files lie in a folder beside the store until the copy is whole; from then on it is an open
file without a name, so that nothing is left of it however its reader ends. Sizes are bytes.
"""

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import apsw

from onechat_runtime.data_folder import DISK_FULL
from onechat_runtime.errors import StoreFull
from onechat_runtime.store_writer import seen_from_outside

Prune = Callable[[apsw.Connection], None]  # runs in a transaction of the copy; whatever it deletes is gone

FOLDER: Final = "snapshots"
PAGES_A_STEP: Final = 256  # 1 MiB: how long a copy that is stopped goes on
_OPCODES_A_LOOK: Final = 50_000  # of SQLite's machine, about a millisecond: the same for what is not steps


class CopyStopped(Exception):
    """Somebody set `stopped`."""


class CopyDamaged(Exception):
    """The copy is not sound, so the store is not: what the check found."""


def remove_leftovers(folder: Path) -> None:
    """Remove `folder`, the store's own for copies, with what a killed process left in it."""
    shutil.rmtree(folder, ignore_errors=True)


def packed_copy(
    source: apsw.Connection,
    *,
    folder: Path,
    vfs: str | None,
    prune: Prune | None,
    stopped: threading.Event,
) -> BinaryIO:
    """A copy of what `source` sees, whose read transaction must be open: a file without a name, at its start.

    `folder` is made if need be. Raises CopyStopped soon after `stopped` is set, StoreFull, CopyDamaged;
    whatever it raises, no file is left.
    """
    with _room_in(folder) as room:
        loose, packed = room / "loose.db", room / "packed.db"
        for path in (loose, packed):  # SQLite keeps the mode of a file that is there
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(apsw.Connection(str(loose), vfs=vfs)) as db, _told_apart(db, stopped):
            _set_up(db)
            _copy(source, db, stopped)
            if prune is not None:
                _prune(db, prune)
            _check(db)
            db.execute("VACUUM INTO ?", (str(packed),)).fetchall()
            _look(stopped)
        return packed.open("rb")


@contextmanager
def _room_in(folder: Path) -> Iterator[Path]:
    """A folder of its own for one copy, gone at the end with all that is in it."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        room = Path(tempfile.mkdtemp(dir=folder))
        try:
            yield room
        finally:
            shutil.rmtree(room, ignore_errors=True)
    except OSError as error:
        if error.errno in DISK_FULL:
            raise StoreFull() from None
        raise


@contextmanager
def _told_apart(db: apsw.Connection, stopped: threading.Event) -> Iterator[None]:
    """Stop `db` at work when `stopped` is set, and raise what the end of its work means."""
    try:
        yield
    except apsw.CorruptError as error:
        raise CopyDamaged(str(error)) from None
    except apsw.InterruptError:
        if stopped.is_set():
            raise CopyStopped() from None
        raise
    except apsw.Error as error:
        meant = seen_from_outside(error, db)
        if meant is error:
            raise
        raise meant from error


def _set_up(db: apsw.Connection) -> None:
    """Fast and careless: a copy that is not whole is thrown away."""
    db.execute("PRAGMA temp_store=MEMORY")  # the root file system may be read-only
    db.execute("PRAGMA synchronous=OFF")
    db.execute("PRAGMA locking_mode=EXCLUSIVE").fetchall()
    db.execute("PRAGMA foreign_keys=ON")


def _copy(source: apsw.Connection, db: apsw.Connection, stopped: threading.Event) -> None:
    if not source.in_transaction:
        raise RuntimeError("a copy without a read transaction would begin anew whenever somebody writes")
    with db.backup("main", source, "main") as backup:
        while not backup.done:
            _look(stopped)
            backup.step(PAGES_A_STEP)
    # The log beside the copy, which it has from its source, would be one more file and one more copy of it.
    db.execute("PRAGMA journal_mode=OFF").fetchall()
    db.set_progress_handler(stopped.is_set, _OPCODES_A_LOOK)


def _prune(db: apsw.Connection, prune: Prune) -> None:
    db.execute("BEGIN IMMEDIATE")
    prune(db)
    db.execute("COMMIT")


def _check(db: apsw.Connection) -> None:
    found = db.execute("PRAGMA quick_check(1)").fetchall()
    if found != [("ok",)]:
        raise CopyDamaged(str(found[0][0]) if found else "nothing can be read")


def _look(stopped: threading.Event) -> None:
    if stopped.is_set():
        raise CopyStopped()
