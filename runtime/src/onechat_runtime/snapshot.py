"""One state of a store that stays readable while writes go on, and packed copies of it.

How a copy is made: snapshot_copy.py. How long a snapshot lives: freezing.py.
"""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO

import apsw
from grpc import StatusCode

from onechat_runtime.errors import ServiceError
from onechat_runtime.snapshot_copy import FOLDER, CopyDamaged, CopyStopped, Prune, packed_copy
from onechat_runtime.store import Store


class SnapshotUnknown(ServiceError):
    """There is no such snapshot, or it has ended: ten minutes after its freeze, or with its service."""

    code, reason = StatusCode.NOT_FOUND, "SNAPSHOT_UNKNOWN"


class Snapshot:
    """The state of `store` at this moment, by a read transaction that stays open until `close`.

    Its thread is the only user of its connection, so its copies are made one after the other.
    """

    def __init__(self, store: Store, prune: Prune | None) -> None:
        self._store = store
        self._prune = prune
        self._db = _begun(store)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="snapshot")
        self._at_work: set[threading.Event] = set()
        self._closed: asyncio.Future[None] | None = None

    async def copy(self) -> BinaryIO:
        """A packed copy, which the caller closes: an open file that has no name any more.

        Raises SnapshotUnknown when the snapshot is closed, also in the middle; StoreFull. A cancelled one
        leaves no file.
        """
        if self._closed is not None:
            raise SnapshotUnknown()
        stopped = threading.Event()
        self._at_work.add(stopped)
        making = asyncio.get_running_loop().run_in_executor(self._thread, self._copied, stopped)
        try:
            return await asyncio.shield(making)
        except CopyStopped:
            raise SnapshotUnknown() from None
        except CopyDamaged as damage:
            self._store.report_damage(str(damage))
            raise
        except asyncio.CancelledError:
            stopped.set()
            making.add_done_callback(_close_unwanted)
            await asyncio.wait([making])
            raise
        finally:
            self._at_work.discard(stopped)

    async def close(self) -> None:
        """Stop what copies it and end its transaction; closing twice does nothing more."""
        if self._closed is None:
            for stopped in self._at_work:
                stopped.set()
            self._closed = asyncio.get_running_loop().run_in_executor(self._thread, self._db.close)
            self._thread.shutdown(wait=False)
        await asyncio.shield(self._closed)

    def _copied(self, stopped: threading.Event) -> BinaryIO:
        return packed_copy(
            self._db,
            folder=self._store.path.parent / FOLDER,
            vfs=self._store.vfs,
            prune=self._prune,
            stopped=stopped,
        )


def _begun(store: Store) -> apsw.Connection:
    """A connection whose read transaction has begun, which BEGIN alone would not do."""
    db = store.connect()
    try:
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except BaseException:
        db.close()
        raise
    return db


def _close_unwanted(made: "asyncio.Future[BinaryIO]") -> None:
    if not made.cancelled() and made.exception() is None:
        made.result().close()
