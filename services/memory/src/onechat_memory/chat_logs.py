"""All logs: how a change of one begins, commits or is undone, and the views that are held in memory for it.

A change is one job of the store's writing thread. The views in memory carry the revision of their log's row;
a job that finds another revision on disk (an earlier job was undone, or the disk was full at its commit)
loads them again from their rows, so memory never runs ahead of the disk.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.store import Store

from onechat_memory.adapters.log_store import LogRow, LogStore
from onechat_memory.adapters.tree_store import TreeStore, Which
from onechat_memory.bells import APPENDED, WORK, Bells, whole
from onechat_memory.chat_log import ChatLog, ShownView, Views
from onechat_memory.domain.costs import Asked
from onechat_memory.domain.leases import Edition, LogId
from onechat_memory.domain.lines import PLACEHOLDER_SIZE
from onechat_memory.domain.messages import Appended, Log, NewLog, NewMessage, Shape, State
from onechat_memory.domain.tree import Node
from onechat_memory.errors import LogExists, LogNotLive, LogUnknown, NodeUnknown

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendedAll:
    """What an append did, and the log after it."""

    appended: tuple[Appended, ...]
    length: int
    generation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change(Generic[T]):
    result: T
    more_work: bool  #: whether something may have become ready
    whole: bool  #: whether every leaf is built


class ChatLogs:
    """Every log of the store, for writing."""

    def __init__(self, store: Store, clock: Clock, bells: Bells) -> None:
        self._store = store
        self._clock = clock
        self._bells = bells
        self._views: dict[int, Views] = {}  # by the log's number; only the writing thread touches it

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

    async def create(self, asked: NewLog) -> Log:
        """The log as asked, made unless it is there. LogExists when another one has its id."""
        now = self._clock.now()

        def job(db: apsw.Connection) -> Log:
            logs = LogStore(db)
            row = logs.log(asked.id)
            if row is None:
                logs.create(asked, now)
                row = logs.log(asked.id)
            if row is None or row.asked != asked:
                raise LogExists
            return row.log

        return await self._store.write(job)

    async def append(self, log: LogId, messages: Sequence[NewMessage]) -> AppendedAll:
        """Append the new ones of `messages`; all or, on any error, none are on disk when this returns.

        Raises LogUnknown, KeyReused, StoreFull.
        """

        def work(chat: ChatLog) -> AppendedAll:
            appended = tuple(chat.append(messages))
            return AppendedAll(appended=appended, length=chat.row.length, generation=chat.row.generation)

        return await self._change(log, work, lambda _: self._bells.ring(APPENDED))

    async def fitted_view(self, log: LogId) -> ShownView:
        """The chat's view, fitted. Raises LogUnknown, LogIsFlat, StoreFull."""

        def work(chat: ChatLog) -> ShownView:
            chat.fit()
            return chat.show()

        return await self._change(log, work)

    async def complete(
        self,
        log: LogId,
        node: Node,
        line: str,
        builder: str,
        asked: Asked,
        *,
        generation: int,
        done: Callable[[Edition], None],
    ) -> None:
        """Take `line` for `node`; `done` is told whose it was once it is on disk, whoever still waits.

        Raises LogUnknown, NodeUnknown, NodeBuilt, StoreFull. `generation` 0 is any.
        """

        def work(chat: ChatLog) -> Edition:
            if generation not in (0, chat.row.generation):
                raise NodeUnknown("This log was replaced by another one since the piece was handed out.")
            chat.complete(node, line, builder, asked)
            return chat.row.edition

        await self._change(log, work, done)

    async def fail(self, log: LogId, node: Node, asked: Asked, *, edition: Edition) -> bool:
        """Count a failure of the content of `edition`'s `node`; whether its source's head stands for it now.

        Raises LogUnknown, NodeUnknown, StoreFull.
        """

        def work(chat: ChatLog) -> bool:
            # A swap can have come since the lease was looked at.
            return chat.row.edition == edition and chat.fail(node, asked)

        return await self._change(log, work)

    async def ask_in_vain(self, log: LogId, node: Node, asked: Asked, *, edition: Edition) -> None:
        """Count what a model was asked for `edition`'s `node`, which comes back through no fault of its own.

        Raises LogUnknown, StoreFull.
        """

        def work(chat: ChatLog) -> None:
            if chat.row.edition == edition:
                chat.ask_in_vain(node, asked)

        await self._change(log, work)

    async def _change(
        self, log: LogId, work: Callable[[ChatLog], T], done: Callable[[T], None] | None = None
    ) -> T:
        """Run `work` on `log` in the next commit, then ring for whoever waits for what it made.

        The job and its bells go on when the caller is cancelled.
        """
        now = self._clock.now()
        task = asyncio.ensure_future(self._store.write(lambda db: self._work(db, log, work, now)))

        def ring(finished: "asyncio.Future[_Change[T]]") -> None:
            if finished.cancelled() or finished.exception() is not None:
                return
            if done is not None:
                done(finished.result().result)
            if finished.result().more_work:
                self._bells.ring(WORK)
            if finished.result().whole:
                self._bells.ring(whole(log))

        task.add_done_callback(ring)
        return (await asyncio.shield(task)).result

    def _work(
        self, db: apsw.Connection, log: LogId, work: Callable[[ChatLog], T], now: datetime
    ) -> _Change[T]:
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
            if chat.changed:
                logs.save(row)
        except BaseException:
            # They may hold half of what is undone now.
            self._views.pop(row.number, None)
            raise
        views.revision = row.revision
        return _Change(result=result, more_work=chat.more_work, whole=row.unbuilt_leaves == 0)

    def _views_of(self, row: LogRow, tree: TreeStore) -> Views:
        """The views of `row`'s revision: those in memory, else as their rows say."""
        views = self._views.get(row.number)
        if views is not None and views.revision == row.revision:
            return views
        chat, compaction = (
            tree.restore(which, limits, owed=owed, unbuilt_size=PLACEHOLDER_SIZE)
            for which, limits, owed in (
                (Which.CHAT, row.asked.chat, row.chat_owed),
                (Which.COMPACTION, row.asked.compaction, row.compaction_owed),
            )
        )
        views = Views(revision=row.revision, chat=chat, compaction=compaction)
        if row.asked.shape is Shape.TREE:
            self._views[row.number] = views
        return views
