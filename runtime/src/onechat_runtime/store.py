"""A service's own SQLite store: one writer with group commit, reads beside it, a lock for life.

apsw, WAL, synchronous=FULL: what `write` returned is on disk. Files 0600 in a folder 0700. Migrations:
store_schema.py. The writing thread: store_writer.py. The lock: data_folder.py.
"""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

import apsw

from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.data_folder import WriterLock, claim_folder, disk_full, unusable
from onechat_runtime.errors import StartRefused, StoreFull
from onechat_runtime.health import HealthBoard
from onechat_runtime.store_schema import COPY_SUFFIX, RUNTIME, Migration, bring_up_to_date, migrations_in
from onechat_runtime.store_writer import GONE, Hold, Writer, seen_from_outside

__all__ = ["Migration", "Store", "migrations_in"]

T = TypeVar("T")

BUSY_MS: Final = 5_000  # readers never wait for the writer in WAL; a recovery or a checkpoint may hold them
# Each run of a statement takes the next of so many places; one that has lost its own is compiled anew, which
# takes up to a tenth of a millisecond. A commit of some dozen messages has some hundred runs.
STATEMENTS_KEPT: Final = 256
WAL_KEPT_BYTES: Final = 64 * 1024 * 1024
# 32 MiB. The same pages are written again and again; a checkpoint moves each of them once and syncs twice, so
# an eighth of the checkpoints costs about an eighth. What a start reads after an unclean end stays small.
CHECKPOINT_PAGES: Final = 8_000
ASIDE_THREADS: Final = 2
INTEGRITY_CHECK: Final = "store-integrity-check"  #: name of the task that runs after an unclean end
_MAGIC: Final = b"SQLite format 3\0"
_PAGE_BYTES_MIN: Final = 512  # of any SQLite file; its own pages are a multiple
_FULL: Final = "store_full"
_DAMAGED: Final = "store_damaged"
_DAMAGE: Final = (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError)  # SQLite checks no text

log = logs.get("onechat.store")


class Store:
    """One SQLite file that this process alone writes.

    Jobs get a connection and must use nothing else: no awaiting, no BEGIN or COMMIT of their own.
    """

    path: Path
    schema: int  #: number of the newest migration of the service's own component
    after_unclean_end: bool  #: whether the process that had it last was killed, or was another program
    vfs: str | None  #: the SQLite VFS that it uses; None: SQLite's own

    def __init__(
        self,
        path: Path,
        db: apsw.Connection,
        *,
        schema: int,
        vfs: str | None,
        board: HealthBoard | None,
        after_unclean_end: bool,
    ) -> None:
        """Use `Store.open`."""
        self.path = path
        self.schema = schema
        self.after_unclean_end = after_unclean_end
        self.vfs = vfs
        self._db = db
        self._board = board
        self._file = _identity(path)
        self._writer = Writer(db, self._settled, self._gone)
        self._reader = connect(path, vfs=vfs, writes=False)
        self._reading = threading.RLock()
        self._aside = ThreadPoolExecutor(max_workers=ASIDE_THREADS, thread_name_prefix="store-reader")
        self._aside_open: set[apsw.Connection] = set()
        self._check: asyncio.Task[None] | None = None

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        path: Path,
        *,
        component: str,
        migrations: Sequence[Migration],
        clock: Clock,
        board: HealthBoard | None = None,
        vfs: str | None = None,
    ) -> AsyncIterator["Store"]:
        """The store at `path`, made and migrated if need be; what was taken is committed at the end.

        Raises StartRefused, one line, for a store that another process holds, that is newer, damaged or no
        store, or that cannot be written. After an unclean end the integrity check runs in the background
        and `board` gets a trouble for what it finds. `vfs` is the SQLite VFS to use.
        """
        components = {RUNTIME: migrations_in("onechat_runtime.migrations"), component: migrations}
        lock, db, unclean = await asyncio.to_thread(_start, path, components, clock, vfs)
        store = cls(path, db, schema=len(migrations), vfs=vfs, board=board, after_unclean_end=unclean)
        if unclean:
            store._check = asyncio.create_task(store._check_integrity(), name=INTEGRITY_CHECK)
        try:
            yield store
        finally:
            if store._check is not None:
                store._check.cancel()
                await asyncio.gather(store._check, return_exceptions=True)
            store._writer.stop_taking()
            # Shielded: a second cancel must not leave the lock behind a half-closed store.
            await asyncio.shield(asyncio.to_thread(store._close, lock))

    async def write(self, job: Callable[[apsw.Connection], T]) -> T:
        """Run `job` in the next commit; when this returns its work is on disk.

        What `job` raises is raised here, and its own work alone is undone. StoreFull when the disk is full. A
        caller that is cancelled does not stop its job.
        """
        return await self.begin(job)

    def begin(self, job: Callable[[apsw.Connection], T]) -> "asyncio.Future[T]":
        """The same for a caller that goes on meanwhile, and may hang its own callbacks on the future.

        Cancelling the future stops nothing either, but then nobody learns the result.
        """
        future = self._writer.submit(job)
        future.add_done_callback(self._tell_of_damage)
        return future

    def read(self, job: Callable[[apsw.Connection], T]) -> T:
        """`job`'s result on one consistent state, in the caller's thread: for short point reads."""
        with self._reading, self._telling_damage():
            return _on_one_state(self._reader, job)

    async def read_aside(self, job: Callable[[apsw.Connection], T]) -> T:
        """Like `read`, in a worker thread with its own connection, for long reads; cancelling ends it."""
        db: list[apsw.Connection] = []

        def work() -> T:
            db.append(connect(self.path, vfs=self.vfs, writes=False))
            self._aside_open.add(db[0])
            try:
                return _on_one_state(db[0], job)
            finally:
                self._aside_open.discard(db[0])
                db[0].close()

        try:
            with self._telling_damage():
                return await asyncio.get_running_loop().run_in_executor(self._aside, work)
        except asyncio.CancelledError:
            _interrupt(self._aside_open.intersection(db))
            raise

    async def hold(self) -> Hold:
        """The writer at rest: what was taken is committed, and what comes waits until the hold's `end`.

        Closing the store ends every hold.
        """
        hold = self._writer.hold()
        try:
            await hold.at_rest
        except asyncio.CancelledError:
            hold.end()
            raise
        return hold

    def connect(self) -> apsw.Connection:
        """A reading connection of the caller's own, who closes it before the store is closed.

        Raises StoreFull when the file was taken away: another one may be in its place.
        """
        if self._gone():
            raise StoreFull(GONE)
        return connect(self.path, vfs=self.vfs, writes=False)

    def when_committed(self, listener: Callable[[], None]) -> None:
        """From within a job of `write`: call `listener` in the loop's thread once the commit is on disk.

        It may be called though this job was undone, when others of the same commit were not.
        """
        self._writer.when_committed(listener)

    def _settled(self, full: bool) -> None:
        if self._board is not None and full and self._gone():
            self._board.trouble(
                _FULL,
                f"The store {self.path} was removed while it was in use: stop onechat, then put it back or"
                " restore a backup.",
            )
        elif self._board is not None and full:
            self._board.trouble(_FULL, f"The disk that holds {self.path} is full: free some space.")
        elif self._board is not None:
            self._board.clear(_FULL)

    def _gone(self) -> bool:
        return _identity(self.path) != self._file

    async def _check_integrity(self) -> None:
        try:
            found = await self.read_aside(lambda db: db.execute("PRAGMA integrity_check(1)").fetchall())
        except apsw.Error:
            found = []  # it cannot even be read through
        if found == [("ok",)]:
            log.info("store_checked", store=str(self.path))
            return
        self.report_damage(*(str(row[0]) for row in found))

    def report_damage(self, *found: str) -> None:
        """Tell whoever looks at this service's health that the store is not sound; `found` is for the log."""
        log.error("store_damaged", store=str(self.path), found=found)
        if self._board is not None:
            sentence = f"The store {self.path} is damaged: stop onechat and restore a backup."
            self._board.trouble(_DAMAGED, sentence)

    def _tell_of_damage(self, done: "asyncio.Future[Any]") -> None:
        error = None if done.cancelled() else done.exception()
        if isinstance(error, _DAMAGE):
            self.report_damage(str(error))

    @contextmanager
    def _telling_damage(self) -> Iterator[None]:
        """Damage that a job meets is told by the health too: its caller learns of a failure only."""
        try:
            yield
        except _DAMAGE as damage:
            self.report_damage(str(damage))
            raise

    def _close(self, lock: WriterLock) -> None:
        self._writer.join()
        _interrupt(set(self._aside_open))
        self._aside.shutdown(wait=True, cancel_futures=True)
        self._reader.close()
        self._db.close()  # the last one out moves the log into the store
        lock.release(clean=True)


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
    db.execute("PRAGMA journal_mode=WAL").fetchall()
    db.execute("PRAGMA synchronous=FULL")
    db.execute(f"PRAGMA journal_size_limit={WAL_KEPT_BYTES}").fetchall()
    db.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}").fetchall()


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file is at `path`; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _interrupt(reading: set[apsw.Connection]) -> None:
    for one in reading:
        with suppress(apsw.Error):  # it ended meanwhile
            one.interrupt()


def _on_one_state(db: apsw.Connection, job: Callable[[apsw.Connection], T]) -> T:
    if db.in_transaction:
        return job(db)
    db.execute("BEGIN")
    try:
        return job(db)
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _start(
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
