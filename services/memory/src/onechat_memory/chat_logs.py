"""What can be done to logs: made, appended to, fitted, built. Each returns once it is on disk.

How a change commits or is undone: log_changes.py. What it does to a log: chat_log.py. Whole logs that are
swapped, rebuilt or deleted: upkeep.py.
"""

from collections.abc import Callable, Sequence

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.store import Store

from onechat_memory.adapters.log_store import LogStore
from onechat_memory.bells import Bells
from onechat_memory.chat_log import ChatLog
from onechat_memory.domain.costs import Asked
from onechat_memory.domain.leases import Edition, LogId
from onechat_memory.domain.messages import Log, NewLog, NewMessage
from onechat_memory.domain.placing import hashed
from onechat_memory.domain.shown import ShownView
from onechat_memory.domain.tree import Node
from onechat_memory.errors import LogExists, NodeUnknown
from onechat_memory.joined_appends import AppendedAll, Appending
from onechat_memory.log_changes import LogChanges


class ChatLogs(LogChanges):
    """Every log of the store, for writing."""

    def __init__(self, store: Store, clock: Clock, bells: Bells) -> None:
        super().__init__(store, clock, bells)
        self._appending = Appending(self, bells)

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
        return await self._appending.append(log, hashed(messages))

    async def fitted_view(self, log: LogId) -> ShownView:
        """The chat's view, fitted. Raises LogUnknown, LogIsFlat, StoreFull."""

        def work(chat: ChatLog) -> ShownView:
            chat.fit()
            return chat.show()

        return await self.change(log, work)

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

        await self.change(log, work, done)

    async def fail(self, log: LogId, node: Node, asked: Asked, *, edition: Edition) -> bool:
        """Count a failure of the content of `edition`'s `node`; whether its source's head stands for it now.

        Raises LogUnknown, NodeUnknown, StoreFull.
        """

        def work(chat: ChatLog) -> bool:
            # A swap can have come since the lease was looked at.
            return chat.row.edition == edition and chat.fail(node, asked)

        return await self.change(log, work)

    async def ask_in_vain(self, log: LogId, node: Node, asked: Asked, *, edition: Edition) -> None:
        """Count what a model was asked for `edition`'s `node`, which comes back through no fault of its own.

        Raises LogUnknown, StoreFull.
        """

        def work(chat: ChatLog) -> None:
            if chat.row.edition == edition:
                chat.ask_in_vain(node, asked)

        await self.change(log, work)
