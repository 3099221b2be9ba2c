"""All logs: how a change of one begins, commits or is undone, and the views that are held in memory for it.

A change is one job of the store's writing thread. The views in memory carry the revision of their log's row;
a job that finds another revision on disk (an earlier job was undone, or the disk was full at its commit)
loads them again from their rows, so memory never runs ahead of the disk.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Generic, TypeVar

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.errors import ServiceError
from onechat_runtime.store import Store

from onechat_memory.adapters.log_store import LogRow, LogStore
from onechat_memory.adapters.tree_store import TreeStore, Which
from onechat_memory.bells import APPENDED, WORK, Bells, whole
from onechat_memory.chat_log import KEY_REUSED, ChatLog, Views
from onechat_memory.domain.costs import Asked
from onechat_memory.domain.leases import Edition, LogId
from onechat_memory.domain.lines import PLACEHOLDER_SIZE
from onechat_memory.domain.messages import Log, NewLog, NewMessage, Shape, State
from onechat_memory.domain.placing import hashed
from onechat_memory.domain.shown import ShownView
from onechat_memory.domain.tree import Node
from onechat_memory.errors import KeyReused, LogExists, LogNotLive, LogUnknown, NodeUnknown
from onechat_memory.joined_appends import AppendedAll, JoinedAppends, WaitingAppend

T = TypeVar("T")


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
        self._joining: dict[LogId, JoinedAppends] = {}  # the last of each log, until they are answered
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

        append = WaitingAppend(hashed(messages), asyncio.get_running_loop().create_future())
        joining = self._joining.get(log)
        if joining is None or not joining.join(append):
            self._joining[log] = self._append_joined(log, JoinedAppends([append]))
        return await append.answer

    def _append_joined(self, log: LogId, joined: JoinedAppends) -> JoinedAppends:
        """Have `joined` appended in the next commit, and its callers told."""

        def work(chat: ChatLog) -> list[AppendedAll | KeyReused]:
            answers = chat.append_each([one.messages for one in joined.take()])
            generation = chat.row.generation
            return [
                KeyReused(KEY_REUSED)
                if one is None
                else AppendedAll(appended=one.appended, length=one.length, generation=generation)
                for one in answers
            ]

        def tell(change: "asyncio.Future[_Change[list[AppendedAll | KeyReused]]]") -> None:
            if self._joining.get(log) is joined:
                del self._joining[log]
            appends, error = joined.take(), change.exception()
            if error is None:
                for append, answer in zip(appends, change.result().result, strict=True):
                    append.answered(answer)
                self._bells.ring(APPENDED)
            elif isinstance(error, ServiceError) or len(appends) == 1:
                for append in appends:
                    append.answered(error)
            else:  # one that breaks the writing must not take the others along
                for append in appends:
                    self._append_alone(log, append)

        self._begin(log, work).add_done_callback(tell)
        return joined

    def _append_alone(self, log: LogId, append: WaitingAppend) -> None:
        try:
            self._append_joined(log, JoinedAppends([append]))
        except RuntimeError as error:  # the store was closed meanwhile
            append.answered(error)

    def given_view(self, row: LogRow) -> ShownView | None:
        """The chat's view as it was given last, if nothing of the log has changed since; `row` is committed.

        It was fitted then, and a second fit of the same view finds nothing to do. One that was given to a
        change that was undone has a revision that no row has, until that change's views are dropped.
        """
        views = self._views.get(row.number)
        given = None if views is None else views.given
        same = given is not None and (given.revision, given.generation) == (row.revision, row.generation)
        return given if same else None

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
        change = self._begin(log, work)
        if done is not None:
            change.add_done_callback(partial(_tell, done))
        return (await asyncio.shield(change)).result

    def _begin(self, log: LogId, work: Callable[[ChatLog], T]) -> "asyncio.Future[_Change[T]]":
        now = self._clock.now()
        change = self._store.begin(lambda db: self._work(db, log, work, now))
        change.add_done_callback(partial(self._ring, log))
        return change

    def _ring(self, log: LogId, change: "asyncio.Future[_Change[Any]]") -> None:
        if change.exception() is not None:
            return
        if change.result().more_work:
            self._bells.ring(WORK)
        if change.result().whole:
            self._bells.ring(whole(log))

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
            chat.save()
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


def _tell(done: Callable[[T], None], change: "asyncio.Future[_Change[T]]") -> None:
    if change.exception() is None:
        done(change.result().result)
