"""A service's own SQLite store: one writer with group commit, reads beside it, a lock for life.

apsw, WAL, synchronous=FULL: what `write` returned is on disk. Files 0600 in a folder 0700. Migrations:
store_schema.py. The writing thread: store_writer.py. How it is opened: store_opening.py, store_connection.py.
What it tells of a full disk and of damage: store_health.py.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeVar

import apsw

from onechat_runtime.clock import Clock
from onechat_runtime.data_folder import WriterLock
from onechat_runtime.errors import StoreFull
from onechat_runtime.health import HealthBoard
from onechat_runtime.store_connection import connect, interrupt, on_one_state
from onechat_runtime.store_health import StoreHealth
from onechat_runtime.store_opening import lock_and_open
from onechat_runtime.store_schema import RUNTIME, Migration, migrations_in
from onechat_runtime.store_writer import GONE, Hold, Writer

__all__ = ["Migration", "Store", "migrations_in"]

T = TypeVar("T")

ASIDE_THREADS: Final = 2
INTEGRITY_CHECK: Final = "store-integrity-check"  #: name of the task that runs after an unclean end


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
        self._health = StoreHealth(path, board)
        self._writer = Writer(db, self._health.settled, self._health.gone)
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
        lock, db, unclean = await asyncio.to_thread(lock_and_open, path, components, clock, vfs)
        store = cls(path, db, schema=len(migrations), vfs=vfs, board=board, after_unclean_end=unclean)
        if unclean:
            check = store._health.check_integrity(store.read_aside)
            store._check = asyncio.create_task(check, name=INTEGRITY_CHECK)
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
        future.add_done_callback(self._health.job_done)
        return future

    def read(self, job: Callable[[apsw.Connection], T]) -> T:
        """`job`'s result on one consistent state, in the caller's thread: for short point reads."""
        with self._reading, self._health.telling_damage():
            return on_one_state(self._reader, job)

    async def read_aside(self, job: Callable[[apsw.Connection], T]) -> T:
        """Like `read`, in a worker thread with its own connection, for long reads; cancelling ends it."""
        db: list[apsw.Connection] = []

        def work() -> T:
            db.append(connect(self.path, vfs=self.vfs, writes=False))
            self._aside_open.add(db[0])
            try:
                return on_one_state(db[0], job)
            finally:
                self._aside_open.discard(db[0])
                db[0].close()

        try:
            with self._health.telling_damage():
                return await asyncio.get_running_loop().run_in_executor(self._aside, work)
        except asyncio.CancelledError:
            interrupt(self._aside_open.intersection(db))
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
        if self._health.gone():
            raise StoreFull(GONE)
        return connect(self.path, vfs=self.vfs, writes=False)

    def when_committed(self, listener: Callable[[], None]) -> None:
        """From within a job of `write`: call `listener` in the loop's thread once the commit is on disk.

        It may be called though this job was undone, when others of the same commit were not.
        """
        self._writer.when_committed(listener)

    def report_damage(self, *found: str) -> None:
        """Tell whoever looks at this service's health that the store is not sound; `found` is for the log."""
        self._health.damaged(*found)

    def _close(self, lock: WriterLock) -> None:
        self._writer.join()
        interrupt(set(self._aside_open))
        self._aside.shutdown(wait=True, cancel_futures=True)
        self._reader.close()
        self._db.close()  # the last one out moves the log into the store
        lock.release(clean=True)
