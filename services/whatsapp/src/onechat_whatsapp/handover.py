"""Handing batches over to the agent service: in order, each once, those of a catch-up as one group.

A parcel is what one call hands over, by the runtime's outbox, whose sender this is; what is in it never
changes, only which group it names, until something of that group is tried. At a start nothing is handed over
before `put_group`, so that what the last run kept can go with what comes. The outbox needs `senders` and
`settled`, and `go_by` names it.
"""

import asyncio
import random
from collections.abc import Sequence
from typing import Final, Protocol

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError, retriable
from onechat_runtime.outbox import Outbox, Sender
from onechat_runtime.steps import Reached
from onechat_runtime.store import Store

from onechat_whatsapp.adapters import batch_rows
from onechat_whatsapp.domain.batches import Batch, Group, split_for_calls
from onechat_whatsapp.domain.ids import BatchKey, ParcelKey, catch_up_id, key_of_parcel

KIND: Final = "batches"
KNOWN: Final = "KEY_REUSED"  # the agent service has that batch by itself; a lost answer did not tell

log = logs.get("onechat_whatsapp.handover")


class Receiver(Protocol):
    """The agent service."""

    async def deliver(self, batches: Sequence[Batch], group: Group | None) -> None:
        """Take all of `batches` or, on an error that says what became of them, none.

        What is known with the same words and `group` stays as it was; else RemoteError with the reason KNOWN.
        """


class Handover:
    """The batches that are on their way."""

    def __init__(
        self, receiver: Receiver, store: Store, clock: Clock, rng: random.Random, reached: Reached
    ) -> None:
        self._receiver = receiver
        self._store = store
        self._clock = clock
        self._rng = rng
        self._reached = reached
        self._outbox: Outbox | None = None
        self._opened = asyncio.Event()

    @property
    def senders(self) -> dict[str, Sender]:
        """For the outbox of the store."""
        return {KIND: self._hand_over}

    def go_by(self, outbox: Outbox) -> None:
        """Put what is handed over into `outbox`, which has `senders`."""
        self._outbox = outbox

    def settled(self, db: apsw.Connection, kind: str, key: str, answer: bytes) -> None:
        """For the outbox: forget a parcel in the transaction that forgets its hand-over."""
        if kind == KIND:
            batch_rows.parcel_handed_over(db, ParcelKey(key))

    def put(self, db: apsw.Connection, batches: Sequence[Batch]) -> None:
        """Hand `batches` over, each by itself, after whatever was put before, in the caller's transaction."""
        for call in split_for_calls(batches):
            self._put(db, call)

    def put_group(self, db: apsw.Connection, batches: Sequence[Batch]) -> None:
        """Hand `batches` over as one group, in the caller's transaction.

        The first time also what the last run left, which waited for it.
        """
        kept: list[ParcelKey] = []
        if not self._opened.is_set():
            queued = Outbox.queued(db, kind=KIND, lane=KIND)
            kept = [ParcelKey(item.key) for item in queued]
        parcels = [*kept, *(self._put(db, call) for call in split_for_calls(batches))]
        if parcels:
            batch_rows.group(db, catch_up_id(self._rng.getrandbits(64)), parcels)

    def open(self) -> None:
        """What was put goes from now on: the first `put_group` is on disk."""
        self._opened.set()

    def waiting(self) -> int:
        """How many batches the agent service does not have, those that are not closed too."""
        return self._store.read(batch_rows.waiting)

    def _put(self, db: apsw.Connection, batches: Sequence[Batch]) -> ParcelKey:
        if self._outbox is None:
            raise RuntimeError("go_by comes first")
        key = key_of_parcel(batches[0].key)
        batch_rows.add_parcel(db, key, batches)
        self._outbox.put(db, kind=KIND, key=key, body=b"", lane=KIND, now=self._clock.now())
        return key

    async def _hand_over(self, key: str, body: bytes) -> None:
        await self._opened.wait()
        batches, group = self._store.read(lambda db: batch_rows.parcel(db, ParcelKey(key)))
        if not batches:
            return
        if group is not None:
            await self._begin(group)
        self._reached("handing_batches_over")
        try:
            await self._receiver.deliver(batches, group)
        except RemoteError as error:
            if retriable(error.code) or (len(batches) == 1 and error.reason != KNOWN):
                raise
            await self._one_by_one(batches, group)
        self._reached("batches_handed_over")

    async def _begin(self, group: Group) -> None:
        """Have `group` stay as it is: half of it, with the rest in another, would be waited for in vain."""
        if not self._store.read(lambda db: batch_rows.has_begun(db, group.id)):
            await self._store.write(lambda db: batch_rows.begin(db, group.id))

    async def _one_by_one(self, batches: Sequence[Batch], group: Group | None) -> None:
        """Hand over what was refused together, so that one that cannot be taken keeps back no other.

        Raises the last refusal; what was taken is forgotten, and the parcel holds the rest.
        """
        refusal: RemoteError | None = None
        for batch in batches:
            try:
                await self._receiver.deliver([batch], group)
            except RemoteError as error:
                if error.reason == KNOWN:
                    await self._forget(batch.key, known=True)
                elif retriable(error.code):
                    raise
                else:
                    refusal = error
            else:
                await self._forget(batch.key, known=False)
        if refusal is not None:
            raise refusal

    async def _forget(self, batch: BatchKey, *, known: bool) -> None:
        log.info("batch_handed_over_alone", batch=batch, known=known)
        forget = batch_rows.handed_over_before if known else batch_rows.handed_over
        await self._store.write(lambda db: forget(db, batch))
        self._reached("batch_forgotten")
