"""Whether the store's logs are what their rows say: quickly at the start, wholly after an unclean end.

SQLite's own checks look at its pages; a page that is whole can still be an old one, or hold other bytes than
were written. Nothing is mended here: a message that is missing is told, and no id is ever given anew.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import StartRefused, StoreFull
from onechat_runtime.store import Store

from onechat_memory.adapters import soundness_rows as rows
from onechat_memory.domain.messages import Message, body_hash

MESSAGES_A_LOOK: Final = 400  #: a few milliseconds in a thread of its own
PAUSE_S: Final = 0.02  #: between two looks, so that calls are hardly slower meanwhile

log = logs.get("onechat.memory")


def must_be_sound_at_its_ends(store: Store) -> None:
    """Raise StartRefused unless each log ends where its row says, and each view tiles its log.

    O(logs and lines of views). An old page or a log that was cut off shows there first.
    """
    if store.read(rows.fault_at_an_end) is not None:
        raise StartRefused(f"{store.path} is damaged: restore a backup.")


class Soundness:
    """Looks at every message of every log once, if the last process that had the store was killed."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def run(self) -> None:
        """Look, and report the first fault as the store's damage. Returns when there is no more to see."""
        if not self._store.after_unclean_end:
            return
        try:
            fault = await self.first_fault()
        except (StoreFull, apsw.Error) as error:
            # Damage the store has told by itself; a disk that fails is no reason to end the service.
            log.warning("look_at_messages_ended", error=type(error).__name__)
            return
        if fault is None:
            log.info("messages_checked", store=str(self._store.path))
        else:
            self._store.report_damage(fault)

    async def first_fault(self) -> str | None:
        """What is wrong first, for the log; None when every message is there as it was appended.

        At the end of each log its views' bytes are counted, which nothing else ever does again.
        """
        number = await self._store.read_aside(lambda db: rows.next_log(db, 0))
        while number is not None:
            fault = await self._fault_in(number)
            if fault is not None:
                return f"log {number}: {fault}"
            number = await self._store.read_aside(partial(rows.next_log, after=number))
        return None

    async def _fault_in(self, number: int) -> str | None:
        start: int | None = 0
        while start is not None:
            seen = await self._store.read_aside(partial(look, number=number, start=start))
            if seen.fault is not None:
                return seen.fault
            start = seen.next_id
            await self._clock.sleep(PAUSE_S)
        return await self._store.read_aside(partial(rows.view_bytes_fault, number=number))


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one look at a log found."""

    fault: str | None = None
    next_id: int | None = None  #: where the next one begins; None at the log's end


def look(db: apsw.Connection, number: int, start: int) -> Seen:
    """Look at some messages of a log, from `start` on, where a whole text begins."""
    length = rows.length(db, number)
    if length is None or start >= length:
        return Seen()  # it was deleted meanwhile, or there is no more
    place = start
    try:
        for body in _bodies(rows.messages(db, number, start, length)):
            if fault := _fault_of(body, place):
                return Seen(fault=fault)
            place += len(body)
            if place - start >= MESSAGES_A_LOOK:
                break
        else:
            if place < length:
                return Seen(fault=f"message {place} is missing")
        if fault := rows.line_fault(db, number, start, place):
            return Seen(fault=fault)
    except (ValueError, TypeError, OverflowError):  # no text, no word of ours, no list, no instant
        return Seen(fault=f"a field of message {place} or near it cannot be read")
    return Seen(next_id=place)


def _bodies(messages: Iterator[tuple[Message, bytes]]) -> Iterator[list[tuple[Message, bytes]]]:
    """The pieces of each whole text together."""
    body: list[tuple[Message, bytes]] = []
    for message, hashed in messages:
        body.append((message, hashed))
        if message.part >= message.parts:
            yield body
            body = []
    if body:
        yield body


def _fault_of(body: Sequence[tuple[Message, bytes]], place: int) -> str | None:
    """What is wrong with the pieces of a text that should begin at `place`."""
    for part, (message, _) in enumerate(body, 1):
        if (message.id, message.part, message.parts) != (place + part - 1, part, len(body)):
            return f"message {place + part - 1} is missing or out of its place"
    first = body[0][0].body
    wanted = body_hash(replace(first, text="".join(message.body.text for message, _ in body)))
    if any(hashed != wanted or message.body.key != first.key for message, hashed in body):
        return f"message {place} is not what was appended"
    return None
