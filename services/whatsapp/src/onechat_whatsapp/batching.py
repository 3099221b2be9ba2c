"""Messages into batches: gathered in the store, closed in time, put on their way.

Outside of a catch-up each batch goes by itself once it closes; within one all messages only gather, and
`release` makes batches of them by their own times and puts them on their way as one group. It begins as
within a catch-up: until it is released nothing closes. When to release: catch_up.py. The limits:
domain/batches.py.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from typing import Final

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import StoreFull
from onechat_runtime.steps import Reached
from onechat_runtime.store import Store

from onechat_whatsapp.adapters import batch_rows
from onechat_whatsapp.domain.batch_wording import batch_text, line_of
from onechat_whatsapp.domain.batches import (
    QUIET,
    Batch,
    Gathered,
    closes_at,
    has_room,
    is_due,
    split_by_size,
    split_by_times,
    wakes_root,
)
from onechat_whatsapp.domain.chat_ids import ChatId
from onechat_whatsapp.domain.ids import key_of_batch
from onechat_whatsapp.domain.messages import Message
from onechat_whatsapp.handover import Handover
from onechat_whatsapp.waiting import FULL_AGAIN_S, Moves, once_there_is_room

PENDING_MOST: Final = 256  # messages in memory
HEARD_KEPT: Final = timedelta(days=90)  # WhatsApp itself keeps what it could not bring for 30 days
_TIDIED_EVERY: Final = timedelta(days=1)

log = logs.get("onechat_whatsapp.batching")


class Batching:
    """The open batches of all chats."""

    def __init__(
        self, store: Store, handover: Handover, clock: Clock, zone: tzinfo, reached: Reached
    ) -> None:
        """`zone` is the user's, for the times in the batches."""
        self._store = store
        self._handover = handover
        self._clock = clock
        self._zone = zone
        self._reached = reached
        self._holding = True
        self._pending: list[Message] = []  # taken, and not yet in the store
        self._storing = asyncio.Lock()
        self._moves = Moves(clock)
        self._looked = False
        self._round_at: float | None = 0.0  # when all open batches are looked at next; the clock's monotonic
        self._tidied: datetime | None = None

    async def take(self, messages: Sequence[Message]) -> None:
        """Take messages in their order, each once however often it comes.

        They are on disk as soon as `run` gets to them, with all that has come until then: one commit for each
        would be slower than WhatsApp. This waits while that falls behind, as when the disk is full.
        """
        self._pending.extend(messages)
        self._look()
        if len(self._pending) >= PENDING_MOST:
            await self._moves.until(lambda: len(self._pending) < PENDING_MOST)

    async def merge(self, old: ChatId, new: ChatId) -> None:
        """The chat that was known as `old` is the chat `new`: what is open of both goes together.

        Writes nothing where that is known. Raises StoreFull.
        """
        waits = any(message.chat == old for message in self._pending)
        if not waits and self._store.read(lambda db: batch_rows.is_one(db, old, new)):
            return
        async with self._storing:
            await self._store_pending()
            await self._store.write(lambda db: batch_rows.unite(db, old, new))
        self._round_by(self._clock.monotonic())
        self._look()

    def hold(self) -> None:
        """From now on messages only gather: a catch-up has begun."""
        self._holding = True

    async def release(self) -> None:
        """The catch-up is over: put all that has gathered on its way as one group.

        While the disk is full it waits.
        """

        async def release() -> int:
            async with self._storing:
                await self._store_pending()
                count = await self._store.write(self._release)
                self._holding = False
            return count

        count = await once_there_is_room(self._clock, release)
        log.info("caught_up", batches=count)
        self._reached("batches_released")
        self._handover.open()

    async def run(self) -> None:
        """Store what was taken, and close batches in time, until cancelled."""
        try:
            while True:
                self._looked = False
                try:
                    wait_s = await self._step()
                except StoreFull:
                    self._looked = False
                    wait_s = FULL_AGAIN_S
                await self._moves.until(lambda: self._looked, wait_s)
        finally:
            with suppress(StoreFull):  # an end must not fail for it; nothing more can be done
                async with self._storing:
                    await self._store_pending()

    async def _step(self) -> float | None:
        """Store what was taken; close what is due, if it is time to look for that. The seconds until then."""
        async with self._storing:
            if await self._store_pending():
                self._round_by(self._clock.monotonic() + QUIET.total_seconds())
        now = self._clock.monotonic()
        if self._round_at is not None and now >= self._round_at:
            self._round_at = None  # from here on somebody may want another one
            try:
                wait_s = await self._round(self._clock.now())
            except StoreFull:
                self._round_by(now)
                raise
            if wait_s is not None:
                self._round_by(now + wait_s)
        return None if self._round_at is None else max(0.0, self._round_at - self._clock.monotonic())

    def _round_by(self, instant: float) -> None:
        self._round_at = instant if self._round_at is None else min(instant, self._round_at)

    def _look(self) -> None:
        self._looked = True
        self._moves.moved()

    async def _store_pending(self) -> bool:
        """Put what was taken into the store, if there is any; on StoreFull it stays where it is."""
        if not self._pending:
            return False
        messages, holding = tuple(self._pending), self._holding
        await self._store.write(lambda db: self._take_all(db, messages, holding=holding))
        del self._pending[: len(messages)]
        self._moves.moved()
        self._reached("messages_taken")
        return True

    def _take_all(self, db: apsw.Connection, messages: Sequence[Message], *, holding: bool) -> None:
        now = self._clock.now()
        for came in messages:
            message = replace(came, chat=batch_rows.known_as(db, came.chat))  # else it could be taken twice
            if batch_rows.hear(db, message, now):
                self._gather(db, message, now, holding=holding)

    def _gather(self, db: apsw.Connection, message: Message, now: datetime, *, holding: bool) -> None:
        line = line_of(message, self._zone)
        if not holding:
            batch = batch_rows.open_batch(db, message.chat)
            if batch is not None and (is_due(batch, now) or not has_room(batch, len(line.encode()))):
                self._close(db, message.chat)
        batch_rows.gather(db, message, line, wakes=wakes_root(message), now=now)
        if not holding and self._is_due(db, message.chat, now):
            self._close(db, message.chat)

    def _is_due(self, db: apsw.Connection, chat: ChatId, now: datetime) -> bool:
        batch = batch_rows.open_batch(db, chat)
        return batch is not None and is_due(batch, now)

    def _close(self, db: apsw.Connection, chat: ChatId) -> None:
        self._handover.put(db, self._closed(db, chat))

    def _closed(self, db: apsw.Connection, chat: ChatId) -> list[Batch]:
        """What has gathered of `chat`, out of the store: one batch, but for two chats that became one."""
        return [_batch_of(db, messages) for messages in split_by_size(batch_rows.take_gathered(db, chat))]

    def _release(self, db: apsw.Connection) -> int:
        batches = [
            _batch_of(db, messages)
            for chat in batch_rows.gathered_chats(db)
            for messages in split_by_times(batch_rows.take_gathered(db, chat))
        ]
        batches.sort(key=lambda batch: batch.written)
        self._handover.put_group(db, batches)
        return len(batches)

    async def _round(self, now: datetime) -> float | None:
        """Close what is due; the seconds until the next one is, None without any."""
        if self._tidied is None or not self._tidied <= now < self._tidied + _TIDIED_EVERY:
            await self._store.write(lambda db: batch_rows.forget_heard(db, now - HEARD_KEPT))
            self._tidied = now
        if self._holding:
            return None
        open_ones = self._store.read(batch_rows.open_batches)
        due = [chat for chat, batch in open_ones.items() if is_due(batch, now)]
        if due:
            await self._store.write(lambda db: self._close_all(db, due, now))
            self._reached("batches_closed")
        waits = [
            (closes_at(batch) - now).total_seconds() for batch in open_ones.values() if not is_due(batch, now)
        ]
        return min(waits, default=None)

    def _close_all(self, db: apsw.Connection, chats: Sequence[ChatId], now: datetime) -> None:
        """Close those of `chats` that are still due, and hand over together what closed together."""
        due = [chat for chat in chats if self._is_due(db, chat, now)]
        self._handover.put(db, [batch for chat in due for batch in self._closed(db, chat)])


def _batch_of(db: apsw.Connection, messages: Sequence[Gathered]) -> Batch:
    """The batch of `messages`, in their order; there is at least one."""
    first, last = messages[0], messages[-1]
    names = [message.chat_name for message in messages if message.chat_name]
    return Batch(
        key=key_of_batch(first.chat, first.message, first.written),
        chat=first.chat,
        other=batch_rows.other_id(db, first.chat),
        text=batch_text(first.chat, names[-1] if names else "", [message.line for message in messages]),
        wakes=any(message.wakes for message in messages),
        written=last.written,
    )
