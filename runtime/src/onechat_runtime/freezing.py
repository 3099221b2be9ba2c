"""What is frozen: who holds the writer, which snapshots are readable, and when each ends by itself.

All of it lives in memory and ends with the process, since a read transaction does. Times are seconds on the
injected clock. A snapshot itself: snapshot.py.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import BinaryIO, Final

from grpc import StatusCode

from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import ServiceEnding, ServiceError
from onechat_runtime.request_ids import OnceHere
from onechat_runtime.snapshot import Snapshot, SnapshotUnknown
from onechat_runtime.snapshot_copy import FOLDER, Prune, remove_leftovers
from onechat_runtime.store import Store
from onechat_runtime.store_writer import Hold

HOLD_S: Final = 5.0
READABLE_S: Final = 600.0

log = logs.get("onechat.snapshots")


class FrozenAlready(ServiceError):
    """Another snapshot holds the writer: thaw that one, or wait five seconds until it lets go by itself."""

    code, reason = StatusCode.FAILED_PRECONDITION, "FROZEN_ALREADY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """What a freeze gave."""

    snapshot_id: str
    hold_end: datetime  #: UTC; when the writer goes on by itself
    readable_s: float  #: from the freeze on


@dataclass(frozen=True, slots=True)
class _Kept:
    snapshot: Snapshot
    hold: Hold
    timer: "asyncio.Task[None]"


class Snapshots:
    """The snapshots of one store."""

    calls: OnceHere  #: the first answers of calls that came with a request id

    def __init__(self, store: Store, clock: Clock, prune: Prune | None, new_id: Callable[[], str]) -> None:
        """Use `Snapshots.open`."""
        self._store = store
        self._clock = clock
        self._prune = prune
        self._new_id = new_id
        self.calls = OnceHere(clock)
        self._kept: dict[str, _Kept] = {}
        self._freezing = False
        self._ending = False

    @classmethod
    @asynccontextmanager
    async def open(
        cls, store: Store, *, clock: Clock, new_id: Callable[[], str], prune: Prune | None = None
    ) -> AsyncIterator["Snapshots"]:
        """Those of `store`, none at first; what a killed process left of its copies is removed.

        `prune` deletes from each copy what must not be in it; `new_id` names snapshots, also over restarts.
        """
        folder = store.path.parent / FOLDER
        await asyncio.to_thread(remove_leftovers, folder)
        snapshots = cls(store, clock, prune, new_id)
        try:
            yield snapshots
        finally:
            snapshots.let_go()
            await snapshots._close()
            await asyncio.to_thread(remove_leftovers, folder)

    async def freeze(self) -> Frozen:
        """Let the running commit end, hold the writer, and keep the state as it is then.

        Raises FrozenAlready while another one holds the writer, or is about to. Cancelled, it holds nothing.
        """
        if self._freezing or any(not one.hold.ended for one in self._kept.values()):
            raise FrozenAlready()
        self._freezing = True
        try:
            hold = await self._store.hold()
            try:
                return self._keep(hold)
            except BaseException:
                hold.end()
                raise
        finally:
            self._freezing = False

    def thaw(self, snapshot_id: str) -> None:
        """Let the writer go on, if this snapshot still holds it. Raises SnapshotUnknown."""
        self._known(snapshot_id).hold.end()
        log.info("thawed", snapshot=snapshot_id)

    async def copy(self, snapshot_id: str) -> BinaryIO:
        """A packed copy as an open file, which the caller closes. Raises SnapshotUnknown, StoreFull."""
        return await self._known(snapshot_id).snapshot.copy()

    def let_go(self) -> None:
        """End the hold and take no freeze any more: the service ends, and what waits must be committed."""
        self._ending = True
        for one in self._kept.values():
            one.hold.end()

    def _keep(self, hold: Hold) -> Frozen:
        if self._ending:
            raise ServiceEnding()
        snapshot_id, snapshot = self._new_id(), Snapshot(self._store, self._prune)
        hold_end = self._clock.now() + timedelta(seconds=HOLD_S)
        timer = asyncio.create_task(self._end_in_time(snapshot_id, snapshot, hold))
        self._kept[snapshot_id] = _Kept(snapshot, hold, timer)
        log.info("frozen", snapshot=snapshot_id)
        return Frozen(snapshot_id=snapshot_id, hold_end=hold_end, readable_s=READABLE_S)

    def _known(self, snapshot_id: str) -> _Kept:
        try:
            return self._kept[snapshot_id]
        except KeyError:
            raise SnapshotUnknown() from None

    async def _end_in_time(self, snapshot_id: str, snapshot: Snapshot, hold: Hold) -> None:
        await self._clock.sleep(HOLD_S)
        if not hold.ended:
            log.warning("hold_expired", snapshot=snapshot_id)
            hold.end()
        await self._clock.sleep(READABLE_S - HOLD_S)
        await snapshot.close()
        del self._kept[snapshot_id]
        log.info("snapshot_expired", snapshot=snapshot_id)

    async def _close(self) -> None:
        kept = list(self._kept.values())
        for one in kept:
            one.timer.cancel()
        await asyncio.gather(*(one.timer for one in kept), return_exceptions=True)
        await asyncio.gather(*(one.snapshot.close() for one in kept))
