"""Finding messages by words, newest first, in pages. How the index is filled: indexing.py.

Times are seconds.
"""

from dataclasses import dataclass
from typing import Final

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.store import Store

from onechat_memory.adapters.log_store import LogStore
from onechat_memory.adapters.search import SearchStore
from onechat_memory.domain.leases import LogId
from onechat_memory.domain.messages import Message
from onechat_memory.domain.text import size
from onechat_memory.domain.words import Wanted
from onechat_memory.errors import BadPage, IndexBehind, LogUnknown
from onechat_memory.indexing import Indexing

PAGE_BYTES: Final = 1_000_000  #: of text, after which a page ends early; far more than 20 usual messages have
#: What the search itself and the way back may take, and a channel's tries of INDEX_BEHIND.
ANSWER_S: Final = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A page of what was found."""

    messages: tuple[Message, ...]  #: newest first
    next_before: int | None  #: the next page's messages are older than this one; None at the end


class Searching:
    """Every log of the store, for searching."""

    def __init__(self, store: Store, indexing: Indexing, clock: Clock) -> None:
        self._store = store
        self._indexing = indexing
        self._clock = clock

    async def find(
        self, log: LogId, wanted: Wanted, *, before: int | None, most: int, within_s: float
    ) -> Found:
        """Up to `most` messages that hold all that is wanted, older than message `before` if one is named.

        All messages that the log has when this is called are looked at. Raises LogUnknown, BadPage, and
        IndexBehind when the index cannot be filled within `within_s`; what was filled stays. StoreFull.
        """
        end = self._clock.monotonic() + within_s - ANSWER_S
        row = self._store.read(lambda db: LogStore(db).log(log))
        if row is None:
            raise LogUnknown
        if before is not None and not 0 < before < row.length:
            raise BadPage
        if row.indexed < row.length:
            await self._fill(row.number, row.length, end)
        return await self._store.read_aside(
            lambda db: _page(db, row.number, wanted, before or row.length, most)
        )

    async def _fill(self, number: int, length: int, end: float) -> None:
        """Fill the index up to message `length`, by `end`. One step is made in any case: each try helps."""
        while True:
            progress = await self._indexing.step(number)
            if progress is None:
                raise LogUnknown
            if progress.indexed >= length:
                return
            if self._clock.monotonic() >= end:
                raise IndexBehind(
                    f"The search index holds {progress.indexed:,} of {progress.length:,} messages so far."
                    " Search again: it goes on from there."
                )


def _page(db: apsw.Connection, number: int, wanted: Wanted, before: int, most: int) -> Found:
    ids = SearchStore(db).find(number, wanted, before, most + 1)
    logs = LogStore(db)
    messages, total = list[Message](), 0
    for message in ids[:most]:
        found = logs.message(number, message)
        if found is None:
            raise LogUnknown  # deleted meanwhile
        messages.append(found)
        total += size(found.body.text)
        if total >= PAGE_BYTES:
            break
    more = len(messages) < len(ids)
    return Found(messages=tuple(messages), next_before=messages[-1].id if more else None)
