"""How a store is opened: folder and lock claimed, the file looked at, its schema brought up to date.

Every fault is a StartRefused of one line, and leaves nothing locked. What only a whole read would find is
looked for later: store_health.py. Migrations: store_schema.py. The folder and the lock: data_folder.py.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import apsw

from onechat_runtime.clock import Clock
from onechat_runtime.data_folder import WriterLock, claim_folder, disk_full, unusable
from onechat_runtime.errors import StartRefused, StoreFull
from onechat_runtime.store_connection import connect
from onechat_runtime.store_schema import COPY_SUFFIX, Migration, bring_up_to_date
from onechat_runtime.store_writer import seen_from_outside

_MAGIC: Final = b"SQLite format 3\0"
_PAGE_BYTES_MIN: Final = 512  # of any SQLite file; its own pages are a multiple


def lock_and_open(
    path: Path, components: dict[str, Sequence[Migration]], clock: Clock, vfs: str | None
) -> tuple[WriterLock, apsw.Connection, bool]:
    """The lock, a connection to the store brought up to date, whether its last process ended uncleanly."""
    claim_folder(path.parent, private=True)
    lock = WriterLock(path.with_name(path.name + ".lock"))
    try:
        log_file = path.with_name(path.name + "-wal")
        unclean = lock.after_unclean_end or (log_file.exists() and log_file.stat().st_size > 0)
        _make_private(path)
        _refuse_cut_off(path, log_file)
        return lock, _opened(path, components, clock, vfs), unclean
    except BaseException as error:
        lock.release(clean=not lock.after_unclean_end)
        if isinstance(error, OSError):
            raise unusable(path, error) from None
        raise


def _make_private(path: Path) -> None:
    """Create the file 0600 if need be, SQLite gives its log the same mode; refuse what is no database."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o600)
    try:
        os.fchmod(file, 0o600)
        start = os.pread(file, len(_MAGIC), 0)
    finally:
        os.close(file)
    if start and start != _MAGIC:
        raise StartRefused(f"{path} is not a database of onechat: move it away, or restore a backup.")


def _refuse_cut_off(path: Path, log_file: Path) -> None:
    """Refuse what SQLite would take: a store of zero bytes that had a life, or with half a page at its end.

    It would begin a new store and remove the log of the old one; it would read zeros for what was cut off.
    A first start that was killed leaves zero bytes too, but neither a log nor a copy beside them.
    """
    size = path.stat().st_size
    if size == 0:
        for left in (log_file, path.with_name(path.name + COPY_SUFFIX)):
            if left.exists():
                raise StartRefused(
                    f"{path} is empty, but {left.name} beside it is of an earlier life: restore a backup,"
                    " or move both away to begin anew."
                )
    elif size % _PAGE_BYTES_MIN and not (log_file.exists() and log_file.stat().st_size):
        raise StartRefused(f"{path} was cut off: restore a backup.")


def _opened(
    path: Path, components: dict[str, Sequence[Migration]], clock: Clock, vfs: str | None
) -> apsw.Connection:
    db: apsw.Connection | None = None
    try:
        db = connect(path, vfs=vfs, writes=True)
        if db.execute("PRAGMA journal_mode").get != "wal":
            raise StartRefused(f"{path} is on no local disk: name a local folder in ONECHAT_DATA.")
        bring_up_to_date(db, path, components, clock.now())
        return db
    except (apsw.NotADBError, apsw.CorruptError):
        raise StartRefused(f"{path} is damaged: restore a backup.") from None
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError):
        raise StartRefused(
            f"{path} cannot be written: give this user write access to it and its folder."
        ) from None
    except apsw.BusyError:
        raise StartRefused(f"{path} is held by another program: close it, then start again.") from None
    except StoreFull:
        raise _full_at_start(path, db) from None
    except (apsw.FullError, apsw.IOError) as error:
        if db is not None and isinstance(seen_from_outside(error, db), StoreFull):
            raise _full_at_start(path, db) from None
        raise StartRefused(f"{path} cannot be read or written: look at the disk that holds it.") from None


def _full_at_start(path: Path, db: apsw.Connection | None) -> StartRefused:
    """What to say, once the log is gone that an undone migration has filled the disk with."""
    if db is not None:
        with suppress(apsw.Error):
            db.close()
    return disk_full(path)
