"""How a change of a log begins, commits or is undone, and the views that are held in memory for it.

A change is one job of the store's writing thread. The views in memory carry the revision of their log's row;
a job that finds another revision on disk (an earlier job was undone, or the disk was full at its commit)
loads them again from their rows, so memory never runs ahead of the disk. Which changes there are:
chat_logs.py.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Generic, TypeVar

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.store import Store

from onechat_memory.adapters.log_store import LogRow, LogStore
from onechat_memory.adapters.tree_store import TreeStore, Which
from onechat_memory.bells import WORK, Bells, whole
from onechat_memory.chat_log import ChatLog
from onechat_memory.domain.leases import LogId
from onechat_memory.domain.messages import Shape, State
from onechat_memory.domain.shown import ShownView
from onechat_memory.errors import LogNotLive, LogUnknown
from onechat_memory.held_views import Views

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Generic[T]):
    """What a change did."""

    result: T
    more_work: bool  #: whether something may have become ready
    whole: bool  #: whether every leaf is built


class LogChanges:
    """Changes of logs, one at a time, and the views of all of them."""

    def __init__(self, store: Store, clock: Clock, bells: Bells) -> None:
        self._store = store
        self._clock = clock
        self._bells = bells
        self._views: dict[int, Views] = {}  # by the log's number; only the writing thread changes it

    async def load(self) -> int:
        """Take the saved views of all trees into memory; how many logs that are. Nothing is fitted."""

        def job(db: apsw.Connection) -> int:
            rows = LogStore(db).trees()
            for row in rows:
                self._views_of(row, TreeStore(db, row.number))
            return len(rows)

        return await self._store.write(job)

    def forget_views(self, number: int) -> None:
        """From within a job of the store: hold the views of the log `number` no longer, it was set aside."""
        self._views.pop(number, None)

    def given_view(self, row: LogRow) -> ShownView | None:
        """The chat's view as it was given last, if nothing of the log has changed since; `row` is committed.

        It was fitted then, and a second fit of the same view finds nothing to do. One that was given to a
        change that was undone has a revision that no row has, until that change's views are dropped.
        """
        views = self._views.get(row.number)
        given = None if views is None else views.given
        same = given is not None and (given.revision, given.generation) == (row.revision, row.generation)
        return given if same else None

    async def change(
        self, log: LogId, work: Callable[[ChatLog], T], done: Callable[[T], None] | None = None
    ) -> T:
        """Run `work` on `log` in the next commit, then ring for whoever waits for what it made.

        The job and its bells go on when the caller is cancelled.
        """
        change = self.begin(log, work)
        if done is not None:
            change.add_done_callback(partial(_tell, done))
        return (await asyncio.shield(change)).result

    def begin(self, log: LogId, work: Callable[[ChatLog], T]) -> "asyncio.Future[Change[T]]":
        """The same, on a future that must not be cancelled."""
        now = self._clock.now()
        change = self._store.begin(lambda db: self._work(db, log, work, now))
        change.add_done_callback(partial(self._ring, log))
        return change

    def _ring(self, log: LogId, change: "asyncio.Future[Change[Any]]") -> None:
        if change.exception() is not None:
            return
        if change.result().more_work:
            self._bells.ring(WORK)
        if change.result().whole:
            self._bells.ring(whole(log))

    def _work(
        self, db: apsw.Connection, log: LogId, work: Callable[[ChatLog], T], now: datetime
    ) -> Change[T]:
        logs = LogStore(db)
        row = logs.log(log)
        if row is None:
            raise LogUnknown
        if row.asked.state is State.KEPT:
            raise LogNotLive
        tree = TreeStore(db, row.number)
        views = self._views_of(row, tree)
        chat = ChatLog(row, logs, tree, views, now)
        try:
            result = work(chat)
            chat.save()
        except BaseException:
            if chat.took_views:  # they may hold half of what is undone now
                self._views.pop(row.number, None)
            raise
        views.revision = row.revision
        return Change(result=result, more_work=chat.more_work, whole=row.unbuilt_leaves == 0)

    def _views_of(self, row: LogRow, tree: TreeStore) -> Views:
        """The views of `row`'s revision: those in memory, else as their rows say."""
        views = self._views.get(row.number)
        if views is not None and views.revision == row.revision:
            return views
        length = row.length if row.asked.shape is Shape.TREE else 0
        chat, compaction = (
            tree.restore(which, limits, length=length, size=size, owed=owed)
            for which, limits, size, owed in (
                (Which.CHAT, row.asked.chat, row.chat_bytes, row.chat_owed),
                (Which.COMPACTION, row.asked.compaction, row.compaction_bytes, row.compaction_owed),
            )
        )
        views = Views(revision=row.revision, chat=chat, compaction=compaction)
        if row.asked.shape is Shape.TREE:
            self._views[row.number] = views
        return views


def _tell(done: Callable[[T], None], change: "asyncio.Future[Change[T]]") -> None:
    if change.exception() is None:
        done(change.result().result)
