"""The real memory service as a process that ends itself by SIGKILL at a named point of a write.

    python killable.py POINT NUMBER        settings from the environment, as the service's own

It is the NUMBER-th write, or the first after it that gets to POINT: `before` the job, `uncommitted` after it,
`committed` before the answer, or a part of an SQL statement, before which the job is cut short.
`uncommitted:SQL` and `committed:SQL` are of the first such write that has the statement. `image named` is no
write: it is before an image's file gets its name.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import apsw
from onechat_memory.__main__ import MIGRATIONS, NAME, served
from onechat_memory.config import MemorySettings
from onechat_runtime.clock import SystemClock
from onechat_runtime.health import HealthBoard
from onechat_runtime.server import run_service, serve
from onechat_runtime.store import Store, migrations_in

T = TypeVar("T")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_at_rename(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook of the interpreter, which hears of each file that is about to be renamed."""
    if event == "os.rename" and "/images/" in str(arguments[0]):
        die()


class StandingClock(SystemClock):
    """The writer never counts as idle: how many writes there are hangs on the calls alone."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.Event().wait()


class KillingStore:
    """A store that lets the process be killed in the middle of what it does; all else is the real one's."""

    def __init__(self, store: Store, point: str, number: int) -> None:
        self._store = store
        self._point, _, self._statement = point.partition(":")
        self._left = number
        self._met = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def write(self, job: Callable[[apsw.Connection], T]) -> T:
        return await self.begin(job)

    def begin(self, job: Callable[[apsw.Connection], T]) -> "asyncio.Future[T]":
        self._left -= 1
        if self._left > 0:
            return self._store.begin(job)
        begun = self._store.begin(lambda db: self._cut_short(db, job))
        begun.add_done_callback(self._committed)  # before those of whoever waits for it
        return begun

    def _committed(self, begun: "asyncio.Future[Any]") -> None:
        if self._point == "committed" and begun.exception() is None and self._met:
            die()

    def _cut_short(self, db: apsw.Connection, job: Callable[[apsw.Connection], T]) -> T:
        if self._point == "before":
            die()
        self._met = not self._statement
        db.exec_trace = self._seen
        result = job(db)
        db.exec_trace = None
        if self._point == "uncommitted" and self._met:
            die()
        return result

    def _seen(self, cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        if self._point in sql:
            die()
        self._met = self._met or self._statement in sql
        return True


async def run(settings: MemorySettings) -> None:
    clock, board = SystemClock(), HealthBoard()
    if sys.argv[1] == "image named":
        sys.addaudithook(die_at_rename)
    path = settings.data / NAME / "store.db"
    async with Store.open(path, component=NAME, migrations=migrations_in(MIGRATIONS), clock=clock) as store:
        killing: Any = KillingStore(store, sys.argv[1], int(sys.argv[2]))
        service = await served(killing, clock, "killable", idle_clock=StandingClock())
        await serve(name=NAME, settings=settings, services=[service], board=board, store=store)


if __name__ == "__main__":
    sys.exit(run_service(NAME, MemorySettings, run))
