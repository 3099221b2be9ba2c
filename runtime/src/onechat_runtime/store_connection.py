"""Connections to a store: how each is set up, and how a job gets one state through it.

A connection that writes is the writer's alone (store_writer.py); SQLite refuses a write through any other.
Sizes are bytes, pages or counts, as their names say.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

import apsw

from onechat_runtime.store_writer import seen_from_outside

T = TypeVar("T")

BUSY_MS: Final = 5_000  # readers never wait for the writer in WAL; a recovery or a checkpoint may hold them
# Each run of a statement takes the next of so many places; one that has lost its own is compiled anew, which
# takes up to a tenth of a millisecond. A commit of some dozen messages has some hundred runs.
STATEMENTS_KEPT: Final = 256
WAL_KEPT_BYTES: Final = 64 * 1024 * 1024
# 32 MiB. The same pages are written again and again; a checkpoint moves each of them once and syncs twice, so
# an eighth of the checkpoints costs about an eighth. What a start reads after an unclean end stays small.
CHECKPOINT_PAGES: Final = 8_000


def connect(path: Path, *, vfs: str | None = None, writes: bool) -> apsw.Connection:
    """A connection to the store at `path`, which must exist; without `writes` it refuses to write.

    Raises StoreFull when there is no room for what SQLite keeps beside the store.
    """
    db = apsw.Connection(
        str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs, statementcachesize=STATEMENTS_KEPT
    )
    try:
        _set_up(db, writes=writes)
    except apsw.IOError as error:
        raise seen_from_outside(error, db) from None
    return db


def _set_up(db: apsw.Connection, *, writes: bool) -> None:
    db.set_busy_timeout(BUSY_MS)
    # A misspelt column must be an error, not a string.
    db.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    db.config(apsw.SQLITE_DBCONFIG_DQS_DDL, 0)
    db.execute("PRAGMA temp_store=MEMORY")  # the root file system may be read-only
    db.execute("PRAGMA foreign_keys=ON")
    if not writes:
        db.execute("PRAGMA query_only=ON")
        return
    db.execute("PRAGMA secure_delete=ON").fetchall()  # words that were not to be kept stay in no free page
    db.execute("PRAGMA journal_mode=WAL").fetchall()
    db.execute("PRAGMA synchronous=FULL")
    db.execute(f"PRAGMA journal_size_limit={WAL_KEPT_BYTES}").fetchall()
    db.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}").fetchall()


def on_one_state(db: apsw.Connection, job: Callable[[apsw.Connection], T]) -> T:
    """`job`'s result, with all that it reads of the same commit; in a transaction at work, of that one."""
    if db.in_transaction:
        return job(db)
    db.execute("BEGIN")
    try:
        return job(db)
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def interrupt(reading: set[apsw.Connection]) -> None:
    """End what each of `reading` does with apsw.InterruptError, in any thread."""
    for one in reading:
        with suppress(apsw.Error):  # it ended meanwhile
            one.interrupt()
