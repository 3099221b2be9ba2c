"""Several updates that are one message: an album, and a long text with its continuation.

They wait in the inbox until a second after the last of them came. What belongs together is then put on disk
before it is handed over, so that after a kill the same is handed over again under the same key; a part that
comes later is a message of its own. The parts leave the inbox together, with the first.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.outbox import Outbox, Queued
from onechat_runtime.store import Store

from onechat_telegram.adapters import joined_store
from onechat_telegram.domain.ids import ChatId, UserId
from onechat_telegram.domain.updates import Written, continues, written_in

KIND: Final = "update"  #: of the inbox's hand-overs
LANE: Final = "message"  #: where the owner's messages wait
WAIT: Final = timedelta(seconds=1)  # after the last part
PARTS_MAX: Final = 100  # of a text: far below the 2 MB that the agent takes


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """An update that is a message, or a part of one."""

    key: str  #: the inbox's
    update: Mapping[str, Any]
    written: Written
    came: datetime  #: UTC; when it was kept


class Joining:
    """Finds what belongs to the update whose turn it is."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def whole(self, key: str, update: Mapping[str, Any], lane: str = LANE) -> tuple[Part, ...]:
        """The message that begins with `update`, of the inbox's `key`, in `lane`: its parts in order.

        Waits for more as long as there may be some. What belongs to it is on disk when this returns. None for
        an update that holds no message.
        """
        written = written_in(update)
        if written is None:
            return ()
        first = Part(key=key, update=update, written=written, came=self._clock.now())
        if written.edit_date is not None or not (written.album or written.is_long):
            return (first,)
        keys = self._store.read(lambda db: joined_store.keys_of(db, key))
        if keys is None:
            keys = tuple(part.key for part in await self._all_came(key, lane)) or (key,)
            decided = keys
            await self._store.write(lambda db: joined_store.keep(db, key, decided))
        parts = {part.written.message: part for part in self._waiting(lane) if part.key in keys}
        parts[written.message] = first
        return tuple(parts[message] for message in sorted(parts))

    def settled(self, db: apsw.Connection, key: str) -> None:
        """In the transaction that forgets the update of `key`: forget what was handed over with it."""
        for part in joined_store.keys_of(db, key) or ():
            Outbox.withdraw(db, kind=KIND, key=part)
        joined_store.forget(db, key)

    async def _all_came(self, key: str, lane: str) -> Sequence[Part]:
        """What belongs to the update of `key`, once nothing more of it has come for a second."""
        before = 0
        while True:
            waiting = self._waiting(lane)
            parts = _belonging(key, waiting)
            if not parts or len(parts) == before or _complete(parts, waiting):
                return parts
            before = len(parts)
            left = max(part.came for part in parts) + WAIT - self._clock.now()
            # No longer than the wait, wherever the wall clock has stepped.
            await self._clock.sleep(min(left, WAIT).total_seconds())

    def _waiting(self, lane: str) -> list[Part]:
        return self._store.read(lambda db: list(_waiting_in(db, lane)))


def lane_for(db: apsw.Connection, update: object, lane: str) -> str:
    """The lane for `update`, whose own is `lane`: the rest of a long text is no command, whatever it is."""
    after = _written(update) if lane in {"command", "stop"} else None
    if after is None:
        return lane
    before = [part.written for part in _waiting_in(db, LANE)]
    return LANE if before and continues(before[-1], after) else lane


def _belonging(key: str, waiting: Sequence[Part]) -> list[Part]:
    """The parts of the message that begins with the update of `key`; none where that does not wait here."""
    place = next((place for place, part in enumerate(waiting) if part.key == key), None)
    if place is None:
        return []
    first = waiting[place]
    mine = [part for part in waiting[place:] if _writer(part) == _writer(first)]
    if first.written.album:
        return [part for part in mine if _of_one_album(first.written, part.written)]
    parts = mine[:1]
    for part in mine[1:PARTS_MAX]:
        if not continues(parts[-1].written, part.written):
            break
        parts.append(part)
    return parts


def _of_one_album(one: Written, other: Written) -> bool:
    return (one.user, one.album, None) == (other.user, other.album, other.edit_date)


def _complete(parts: Sequence[Part], waiting: Sequence[Part]) -> bool:
    """Whether nothing more can belong to a text: it has ended, or something else came after it."""
    first, last = parts[0], parts[-1]
    if first.written.album:
        return False
    theirs = [part for part in waiting if _writer(part) == _writer(last)]
    return not last.written.is_long or len(parts) >= PARTS_MAX or theirs[-1] is not last


def _writer(part: Part) -> tuple[ChatId, UserId, int | None]:
    """Who wrote it, and where: in a group others write in between, and in a forum also in other topics."""
    message = part.update.get("message", {})
    return part.written.chat, part.written.user, message.get("message_thread_id")


def updates_in(db: apsw.Connection, lane: str) -> list[tuple[Queued, Any]]:
    """The updates that wait in `lane`, the one at work too, in order; each with its JSON read."""
    return [(queued, json.loads(queued.body)) for queued in Outbox.queued(db, kind=KIND, lane=lane)]


def _waiting_in(db: apsw.Connection, lane: str) -> Iterator[Part]:
    """The messages that wait in `lane`, in order."""
    for queued, update in updates_in(db, lane):
        written = _written(update)
        if written is not None:
            yield Part(key=queued.key, update=update, written=written, came=queued.time)


def _written(update: object) -> Written | None:
    """The message in `update`; None for anything else, and for what can't be read: that fails in its turn."""
    try:
        return written_in(update) if isinstance(update, dict) else None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return None
