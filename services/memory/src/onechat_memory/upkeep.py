"""What changes a whole log at the wish of a person or an import: rebuilding, swapping, deleting.

Each is one transaction, remembered by its request's id. What is held in memory under a log's number needs no
care at a swap; whoever waits for its id is told here. What follows a deletion: removing.py. How a node is
built again: compactions.py, chat_log.py.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.request_ids import once
from onechat_runtime.store import Store

from onechat_memory.adapters.log_store import LogRow, LogStore
from onechat_memory.adapters.tree_store import TreeStore
from onechat_memory.adapters.upkeep_store import UpkeepStore
from onechat_memory.bells import APPENDED, REMOVAL, WORK, Bells, whole
from onechat_memory.chat_logs import ChatLogs
from onechat_memory.domain.leases import Leases, LogId
from onechat_memory.domain.messages import Log, Shape, State
from onechat_memory.errors import LogExists, LogIsFlat, LogNotKept, LogNotLive, LogNotStaged, LogUnknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What tells a call that comes twice."""

    id: str  #: the caller's; empty for none
    body: bytes


class Upkeep:
    """Changes of whole logs."""

    def __init__(self, store: Store, logs: ChatLogs, leases: Leases, bells: Bells, clock: Clock) -> None:
        self._store = store
        self._logs = logs
        self._leases = leases
        self._bells = bells
        self._clock = clock

    async def rebuild(
        self, log: LogId, *, degraded: bool, demo: bool, request: Request, answer: Callable[[int], bytes]
    ) -> bytes:
        """The `answer` to how many of the log's nodes will be built again: all that are poor as is said.

        Raises LogUnknown, LogIsFlat, LogNotLive, KeyReused, BadRequestId, StoreFull.
        """

        def job(db: apsw.Connection) -> bytes:
            row = _row(db, log)
            if row.asked.shape is Shape.FLAT:
                raise LogIsFlat
            if row.asked.state is State.KEPT:
                raise LogNotLive
            self._store.when_committed(partial(self._bells.ring, WORK))
            return answer(TreeStore(db, row.number).rebuilds.mark(degraded=degraded, demo=demo))

        return await self._once(request, job)

    async def swap(
        self, live: LogId, staged: LogId, kept: LogId, *, request: Request, answer: Callable[[Log], bytes]
    ) -> bytes:
        """Put the log `staged` in the place of `live`, which is kept as `kept`; the `answer` to the new one.

        Raises LogUnknown, LogNotLive, LogNotStaged, LogExists, KeyReused, BadRequestId, StoreFull.
        """

        def job(db: apsw.Connection) -> bytes:
            old, new = _row(db, live), _row(db, staged, "staged id")
            _must_swap(old, new)
            if UpkeepStore(db).is_taken(kept):
                raise LogExists(f"A log {kept} is there already: choose another id for the one that is kept.")
            UpkeepStore(db).swap(old, new, kept)
            self._logs.forget_views(old.number)
            self._store.when_committed(partial(self._swapped, old, new))
            return answer(_row(db, live).log)

        return await self._once(request, job)

    async def delete(self, log: LogId, *, request: Request) -> None:
        """Delete a kept log; one that is not there is no error. Its rows go afterwards.

        Raises LogNotKept, KeyReused, BadRequestId, StoreFull.
        """

        def job(db: apsw.Connection) -> bytes:
            row = LogStore(db).log(log)
            if row is None:
                return b""
            if row.asked.state is not State.KEPT:
                raise LogNotKept
            UpkeepStore(db).delete(row)
            self._store.when_committed(partial(self._bells.ring, REMOVAL))
            return b""

        await self._once(request, job)

    async def _once(self, request: Request, job: Callable[[apsw.Connection], bytes]) -> bytes:
        """What `job` gives, or gave when this request came first."""
        now = self._clock.now()
        return await self._store.write(
            lambda db: once(db, request_id=request.id, body=request.body, now=now, answer=partial(job, db))
        )

    def _swapped(self, old: LogRow, new: LogRow) -> None:
        """Whoever waits for one of the two looks again, and what was out of them is free under the new id."""
        for row in (old, new):
            self._leases.forget(row.edition)
            self._bells.ring(whole(row.asked.id))
        self._bells.ring(WORK)
        self._bells.ring(APPENDED)  # what comes back can lack words in the index


def _row(db: apsw.Connection, log: LogId, said: str = "id") -> LogRow:
    row = LogStore(db).log(log)
    if row is None:
        raise LogUnknown(f"There is no log of this {said}. ListLogs shows those that are there.")
    return row


def _must_swap(old: LogRow, new: LogRow) -> None:
    if old.asked.state is not State.LIVE:
        raise LogNotLive(f"Only a live log can be replaced: {old.asked.id} is {old.asked.state}.")
    if new.asked.state is State.LIVE:
        raise LogNotStaged
    if new.asked.shape is not old.asked.shape:
        raise LogNotStaged(
            f"A log that is {old.asked.shape} cannot be replaced by one that is {new.asked.shape}."
        )
