"""Appends to one log that wait for the writing thread together, so that they become one change of the log.

Each has an answer of its own. They are told in the event loop's thread; the change: chat_logs.py.
"""

import asyncio
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from onechat_memory.domain.messages import Appended
from onechat_memory.domain.placing import Hashed

JOINED_MAX: Final = (
    512  #: messages after which a change takes no further append, so that other logs' come between
)


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
