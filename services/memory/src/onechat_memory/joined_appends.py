"""Appends to one log that wait for the writing thread together, so that they become one change of the log.

They share what a change costs: the log's row, a statement for each table. Each has an answer of its own, as
if it had come by itself. How a change commits: log_changes.py.
"""

import asyncio
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from onechat_runtime.errors import ServiceError

from onechat_memory.bells import APPENDED, Bells
from onechat_memory.chat_log import KEY_REUSED, ChatLog
from onechat_memory.domain.leases import LogId
from onechat_memory.domain.messages import Appended
from onechat_memory.domain.placing import Hashed
from onechat_memory.errors import KeyReused
from onechat_memory.log_changes import Change, LogChanges

#: Messages after which a change takes no further append, so that other logs' come between.
JOINED_MAX: Final = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendedAll:
    """What an append did, and the log after it."""

    appended: tuple[Appended, ...]
    length: int
    generation: int


@dataclass(frozen=True, slots=True)
class WaitingAppend:
    """One append, and whoever waits for its answer."""

    messages: tuple[Hashed, ...]
    answer: "asyncio.Future[AppendedAll]"

    def answered(self, answer: AppendedAll | BaseException) -> None:
        """Tell the caller, if it is still there."""
        if self.answer.done():
            return
        if isinstance(answer, BaseException):
            self.answer.set_exception(answer)
        else:
            self.answer.set_result(answer)


class JoinedAppends:
    """The appends of one change; more may join until the writing thread takes them."""

    def __init__(self, first: Iterable[WaitingAppend]) -> None:
        self._lock = threading.Lock()  # one thread joins, the other takes
        self._appends = list(first)
        self._messages = sum(len(one.messages) for one in self._appends)
        self._taken = False

    def join(self, append: WaitingAppend) -> bool:
        """Take `append` along; whether there was time and room for it."""
        with self._lock:
            if self._taken or self._messages + len(append.messages) > JOINED_MAX:
                return False
            self._appends.append(append)
            self._messages += len(append.messages)
            return True

    def take(self) -> list[WaitingAppend]:
        """All that have joined, in order; none may join any more."""
        with self._lock:
            self._taken = True
            return self._appends


class Appending:
    """Appends to all logs. Used in the event loop's thread."""

    def __init__(self, changes: LogChanges, bells: Bells) -> None:
        self._changes = changes
        self._bells = bells
        self._joining: dict[LogId, JoinedAppends] = {}  # the last of each log, until it is answered

    async def append(self, log: LogId, messages: tuple[Hashed, ...]) -> AppendedAll:
        """What became of `messages`, once they are on disk. Raises LogUnknown, KeyReused, StoreFull.

        It goes on when the caller is cancelled.
        """
        append = WaitingAppend(messages, asyncio.get_running_loop().create_future())
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

        def tell(change: "asyncio.Future[Change[list[AppendedAll | KeyReused]]]") -> None:
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

        self._changes.begin(log, work).add_done_callback(tell)
        return joined

    def _append_alone(self, log: LogId, append: WaitingAppend) -> None:
        try:
            self._append_joined(log, JoinedAppends([append]))
        except RuntimeError as error:  # the store was closed meanwhile
            append.answered(error)
