"""The one thread that writes to a store: all jobs that wait share one commit, each in its own savepoint.

What a job raises undoes that job alone. When SQLite gives the whole transaction up (a full disk does that),
every job of that commit fails; none was acknowledged. Jobs run in the order in which they came. A hold lets
those that came before it be committed and makes those that come after it wait.
"""

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import apsw

from onechat_runtime.data_folder import DISK_FULL
from onechat_runtime.errors import StoreFull

JOBS_PER_COMMIT: Final = 256
GONE: Final = (
    "The store was removed while it was in use: nothing was written. Put it back, or restore a backup."
)

_Job = Callable[[apsw.Connection], Any]
_Waiting = tuple[_Job, "asyncio.Future[Any]"]
_Outcome = tuple["asyncio.Future[Any]", Any, BaseException | None]
_Listener = Callable[[], None]


class Hold:
    """The writer at rest, from `at_rest` until `end`."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.at_rest: asyncio.Future[None] = loop.create_future()
        self._loop = loop
        self._ended = threading.Event()

    @property
    def ended(self) -> bool:
        """Whether the writer may go on."""
        return self._ended.is_set()

    def end(self) -> None:
        """Let the writer go on; once is enough, and more does nothing. It need not be at rest yet."""
        self._ended.set()

    def keep(self) -> None:
        """In the writing thread: say that it rests, and block until the end."""
        with suppress(RuntimeError):  # the loop is gone, and with it whoever waited
            self._loop.call_soon_threadsafe(self._say)
            self._ended.wait()

    def _say(self) -> None:
        if not self.at_rest.done():
            self.at_rest.set_result(None)


class Writer:
    """The only user of `db`. `settled(full)` runs in the loop's thread after each commit's outcome.

    `gone` says whether the file was taken away: SQLite would go on in it, and all of that would be lost.
    """

    def __init__(
        self, db: apsw.Connection, settled: Callable[[bool], None], gone: Callable[[], bool]
    ) -> None:
        self._db = db
        self._settled = settled
        self._gone = gone
        self._loop = asyncio.get_running_loop()
        # Jobs that came in one turn of the loop go over together, so that they share a commit however fast
        # the thread is; the list is the loop's thread's own.
        self._coming: list[_Waiting] = []
        self._jobs: queue.SimpleQueue[list[_Waiting] | Hold | None] = queue.SimpleQueue()
        self._holds: list[Hold] = []
        self._open = True
        self._when_committed: list[_Listener] = []  # of the commit at work; the writing thread's own
        self._thread = threading.Thread(target=self._work, name="store-writer", daemon=True)
        self._thread.start()

    def submit(self, job: _Job) -> "asyncio.Future[Any]":
        """Take `job`; it runs even if nobody waits for the future any more."""
        if not self._open:
            raise RuntimeError("the store is closed")
        future = self._loop.create_future()
        if not self._coming:
            self._loop.call_soon(self._hand_over)
        self._coming.append((job, future))
        return future

    def _hand_over(self) -> None:
        """Give the thread what came."""
        coming, self._coming = self._coming, []
        for start in range(0, len(coming), JOBS_PER_COMMIT):
            self._jobs.put(coming[start : start + JOBS_PER_COMMIT])

    def when_committed(self, listener: _Listener) -> None:
        """From within a job: call `listener` in the loop's thread once the commit at work is on disk."""
        self._when_committed.append(listener)

    def hold(self) -> Hold:
        """A hold of the writer, which is at rest once what was taken before is committed."""
        if not self._open:
            raise RuntimeError("the store is closed")
        self._holds = [one for one in self._holds if not one.ended]
        hold = Hold(self._loop)
        self._holds.append(hold)
        self._hand_over()
        self._jobs.put(hold)
        return hold

    def stop_taking(self) -> None:
        """Take no more jobs; those that were taken are committed, and no hold keeps them waiting."""
        if self._open:
            self._open = False
            self._hand_over()
            self._jobs.put(None)
        for hold in self._holds:
            hold.end()

    def join(self) -> None:
        """Block until what was taken is committed."""
        self._thread.join()

    def _work(self) -> None:
        more: bool | Hold = True
        while more:
            batch, more = self._next_batch()
            if batch:
                self._when_committed = []
                self._tell(self._commit(batch), self._when_committed)
            if isinstance(more, Hold):
                more.keep()

    def _next_batch(self) -> tuple[list[_Waiting], bool | Hold]:
        """The jobs that wait, and whether more may come; the hold that came right behind them, if one did."""
        batch: list[_Waiting] = []
        waiting = self._jobs.get()
        while waiting is not None:
            if isinstance(waiting, Hold):
                return batch, waiting
            batch += waiting
            if len(batch) >= JOBS_PER_COMMIT:
                return batch, True
            try:
                waiting = self._jobs.get_nowait()
            except queue.Empty:
                return batch, True
        return batch, False

    def _commit(self, batch: list[_Waiting]) -> list[_Outcome]:
        outcomes: list[_Outcome] = []
        try:
            if self._gone():
                raise StoreFull(GONE)
            self._db.execute("BEGIN IMMEDIATE")
            if len(batch) == 1:  # there is nothing else that it could undo
                outcomes.append((batch[0][1], batch[0][0](self._db), None))
            else:
                outcomes += [self._run(job, future) for job, future in batch]
            self._db.execute("COMMIT")
        except BaseException as error:  # noqa: BLE001 - goes to every waiter; the thread must live on
            failure = seen_from_outside(error, self._db)
            if self._db.in_transaction:
                with suppress(apsw.Error):  # a disk that fails at this too; the next commit tries again
                    self._db.execute("ROLLBACK")
            self._when_committed = []
            return [(future, None, failure) for _, future in batch]
        return outcomes

    def _run(self, job: _Job, future: "asyncio.Future[Any]") -> _Outcome:
        self._db.execute("SAVEPOINT job")
        try:
            result = job(self._db)
        except BaseException as error:
            if not self._db.in_transaction:
                raise  # SQLite undid the others' work too
            failure = seen_from_outside(error, self._db)
            self._db.execute("ROLLBACK TO job")
            self._db.execute("RELEASE job")
            return future, None, failure
        self._db.execute("RELEASE job")
        return future, result, None

    def _tell(self, outcomes: list[_Outcome], listeners: list[_Listener]) -> None:
        try:
            self._loop.call_soon_threadsafe(self._settle, outcomes, listeners)
        except RuntimeError:
            return  # the loop is gone, and with it whoever waited

    def _settle(self, outcomes: list[_Outcome], listeners: list[_Listener]) -> None:
        for future, result, error in outcomes:
            if future.done():
                continue  # cancelled while it waited
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)
        self._settled(any(isinstance(error, StoreFull) for _, _, error in outcomes))
        for listener in listeners:
            listener()


def seen_from_outside(error: BaseException, db: apsw.Connection) -> BaseException:
    """StoreFull for whatever means that there is no room; `error` itself for all else."""
    if isinstance(error, apsw.FullError):
        return StoreFull()
    # SQLite reports a quota or a file limit as a failed write; only errno tells.
    if isinstance(error, apsw.IOError) and db.system_errno in DISK_FULL:
        return StoreFull()
    return error
