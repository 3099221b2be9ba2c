"""Sends pieces in their order: recorded as sending, sent, then message id and place in one transaction.

What was certainly not sent is tried again for ever; what may have been is sent once more, marked; what
Telegram refuses goes as plain text, and if that is refused too it is set aside.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import StoreFull
from onechat_runtime.store import Store

from onechat_telegram.adapters import piece_store
from onechat_telegram.adapters.bot_api import BotApi
from onechat_telegram.domain.bot_errors import (
    BotApiError,
    ChatClosed,
    NotReached,
    OutcomeUnknown,
    Refused,
    delay_after,
)
from onechat_telegram.domain.ids import MessageId, private_chat_of
from onechat_telegram.domain.outgoing import REPEATS_MAX, Outgoing, PieceState, messages_of
from onechat_telegram.link import Link
from onechat_telegram.ownership import Ownership
from onechat_telegram.replies import Replies
from onechat_telegram.steps import Reached

KEPT_FOR_A_CLOSED_CHAT: Final = 50  # pieces; else one that is never opened would be flooded when it is
_LAST_SEND_S: Final = 5.0  # for the answer to a send at work when the service ends
_SPREAD: Final = (0.8, 1.2)

log = logs.get("onechat_telegram.sending")


class Sending:
    """The one sender of pieces."""

    def __init__(
        self,
        api: BotApi,
        store: Store,
        replies: Replies,
        link: Link,
        ownership: Ownership,
        clock: Clock,
        rng: random.Random,
        reached: Reached,
    ) -> None:
        self._api = api
        self._store = store
        self._replies = replies
        self._link = link
        self._ownership = ownership
        self._clock = clock
        self._rng = rng
        self._reached = reached

    async def open(self) -> None:
        """Before anything is sent: what the last process was sending may be in the chat, and is repeated."""
        now = self._clock.now()

        def repeat_all(db: apsw.Connection) -> int:
            numbers = piece_store.found_sending(db)
            for number in numbers:
                piece_store.repeat(db, number, REPEATS_MAX, now)
            piece_store.forget_old(db, now)
            return len(numbers)

        if repeated := await self._store.write(repeat_all):
            log.warning("pieces_repeated", pieces=repeated)

    async def run(self) -> None:
        """Send until cancelled."""
        failures = 0
        while True:
            self._replies.added.clear()
            piece = self._store.read(piece_store.next_piece)
            if piece is None:
                await self._replies.added.wait()
                continue
            try:
                await self._finished(piece)
                failures = 0
            except StoreFull:
                failures += 1
                await self._clock.sleep(delay_after(failures, NotReached(), 1.0))
            except BotApiError as error:
                failures += 1
                delay_s = round(delay_after(failures, error, self._rng.uniform(*_SPREAD)), 1)
                log.info("send_waits", piece=piece.number, error=type(error).__name__, again_in_s=delay_s)
                await self._clock.sleep(delay_s)

    async def _finished(self, piece: Outgoing) -> None:
        """Send `piece`, to its end also when the service ends meanwhile: else it would be sent twice."""
        work = asyncio.ensure_future(self._send(piece))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            await asyncio.wait({work}, timeout=_LAST_SEND_S)
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            raise

    async def _send(self, piece: Outgoing) -> None:
        """One try. Raises what has to be waited for; the piece is then on disk as waiting."""
        await self._note(piece, PieceState.SENDING)
        self._reached("sending")
        message: MessageId | None = None
        try:
            for part in messages_of(piece):
                message = await self._api.send(piece.chat, part)
        except OutcomeUnknown as error:
            await self._unknown(piece, error)
        except Refused as error:
            await self._refused(piece, error)
        except BotApiError as error:
            await self._note(piece, PieceState.WAITING)
            if isinstance(error, ChatClosed):
                await self._closed(piece)
            raise
        if message is None:
            return
        sent = message
        self._reached("sent")
        now = self._clock.now()
        await self._kept(lambda db: piece_store.set_sent(db, piece, sent, now))
        self._reached("recorded")
        self._link.answered()
        self._link.chat_closed(False)

    async def _kept(self, job: Callable[[apsw.Connection], None]) -> None:
        """Write what must not be lost, however long the disk is full: the message may be in the chat."""
        failures = 0
        while True:
            try:
                await self._store.write(job)
            except StoreFull:
                failures += 1
                await self._clock.sleep(delay_after(failures, NotReached(), 1.0))
            else:
                return

    async def _note(self, piece: Outgoing, state: PieceState, trace: str = "") -> None:
        now = self._clock.now()
        await self._store.write(lambda db: piece_store.set_state(db, piece, state, now, trace))

    async def _unknown(self, piece: Outgoing, error: BotApiError) -> None:
        log.warning("outcome_unknown", piece=piece.number, error=str(error), repeats=piece.repeats)
        state = PieceState.WAITING if piece.repeats == 0 else PieceState.UNKNOWN
        now, again = self._clock.now(), replace(piece, repeats=piece.repeats + 1)
        await self._kept(lambda db: piece_store.set_state(db, again, state, now, str(error)))

    async def _refused(self, piece: Outgoing, error: BotApiError) -> None:
        if piece.entities or piece.text != piece.plain:
            log.warning("formatting_refused", piece=piece.number, error=str(error))
            await self._store.write(lambda db: piece_store.make_plain(db, piece))
            return
        log.error("piece_set_aside", piece=piece.number, error=str(error))
        await self._note(piece, PieceState.ASIDE, str(error))

    async def _closed(self, piece: Outgoing) -> None:
        owner = self._ownership.owner
        if owner is None or piece.chat != private_chat_of(owner):
            await self._note(piece, PieceState.ASIDE, "the chat of a former owner is closed")
            return
        self._link.chat_closed(True)
        now = self._clock.now()
        dropped = await self._store.write(
            lambda db: piece_store.drop_all_but(db, KEPT_FOR_A_CLOSED_CHAT, now)
        )
        if dropped:
            log.warning("pieces_dropped", pieces=dropped, why="the owner's chat is closed")
