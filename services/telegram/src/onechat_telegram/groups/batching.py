"""What is learned silently: gathered in the store, closed in time, handed over as one message without a turn.

The limits: domain/batches.py. A batch's key is made of its first message's, so that whatever is repeated
after a crash is known as the same.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Any, Final

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.errors import StoreFull
from onechat_runtime.store import Store

from onechat_telegram.groups import batch_rows, rows
from onechat_telegram.groups.deliveries import Lanes
from onechat_telegram.groups.domain.batches import closes_at, has_room, is_due
from onechat_telegram.groups.domain.group import Group
from onechat_telegram.groups.domain.ids import ChatId, key_of_batch
from onechat_telegram.groups.domain.messages import Message
from onechat_telegram.groups.domain.wording import heading, line_of
from onechat_telegram.groups.ports import Adapter, GroupDelivery

_FULL_AGAIN_S: Final = 10.0


class Batching:
    """The open batches of all groups."""

    def __init__(self, adapter: Adapter, store: Store, lanes: Lanes, clock: Clock, zone: tzinfo) -> None:
        self._adapter = adapter
        self._store = store
        self._lanes = lanes
        self._clock = clock
        self._zone = zone
        self._look = asyncio.Event()

    def learn(self, db: apsw.Connection, message: Message, group: Group) -> None:
        """Put `message` into its group's batch, in the caller's transaction; it closes if it is full."""
        batch, now = batch_rows.batch(db, group.chat), self._clock.now()
        line = line_of(message, self._zone, self._adapter.bot.id)
        if batch is not None and not has_room(batch, len(message.images), len(line.encode())):
            self.close(db, group)
        batch_rows.add(db, group.chat, message.key, line, message.images, written=message.time, came=now)
        self._close_if_due(db, group.chat, now)
        self._store.when_committed(self._look.set)

    def close(self, db: apsw.Connection, group: Group) -> None:
        """Put the group's batch, if it has one, on its way, in the caller's transaction."""
        batch = batch_rows.batch(db, group.chat)
        if batch is None:
            return
        closed = batch_rows.close(db, group.chat)
        first = heading(self._adapter.channel, group.title, group.chat)
        self._lanes.deliver(
            db,
            GroupDelivery(
                key=key_of_batch(batch.first),
                agent=group.agent,
                source=group.source,
                text="\n".join([first, *closed.lines]),
                images=closed.images,
                time=closed.written,
                wakes=False,
                place=None,
            ),
            group,
        )

    async def run(self) -> None:
        """Close batches in time, until cancelled."""
        while True:
            self._look.clear()
            try:
                wait_s = await self._round(self._clock.now())
            except StoreFull:
                wait_s = _FULL_AGAIN_S
            await self._pause(wait_s)

    async def _round(self, now: datetime) -> float | None:
        """Close what is due; the seconds until the next one is, None without any."""
        open_ones = self._store.read(batch_rows.batches)
        due = [batch.chat for batch in open_ones if is_due(batch, now)]
        if due:
            await self._store.write(lambda db: self._close_all(db, due, now))
        waits = [(closes_at(one) - now).total_seconds() for one in open_ones if one.chat not in due]
        return min(waits, default=None)

    def _close_all(self, db: apsw.Connection, chats: Sequence[ChatId], now: datetime) -> None:
        for chat in chats:
            self._close_if_due(db, chat, now)

    def _close_if_due(self, db: apsw.Connection, chat: ChatId, now: datetime) -> None:
        batch, group = batch_rows.batch(db, chat), rows.group(db, chat)
        if batch is None or not is_due(batch, now):
            return
        if group is None:
            batch_rows.drop(db, chat)
        else:
            self.close(db, group)

    async def _pause(self, seconds: float | None) -> None:
        """Wait so long, or until a message has come."""
        waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._look.wait())]
        if seconds is not None:
            waits.append(asyncio.ensure_future(self._clock.sleep(seconds)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
