"""Sends pieces in their order: recorded as sending, sent, then message id and place in one transaction.

What was certainly not sent is tried again for ever; what may have been is, in a private chat, sent once more,
marked; what Telegram refuses loses what it is refused for, and if nothing is left it is set aside. Each chat
has a lane of its own, since Telegram's limits are a chat's own too: one that has to wait holds up no other.
How one piece is put: putting.py.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError, StoreFull
from onechat_runtime.steps import Reached
from onechat_runtime.store import Store

from onechat_telegram.adapters import piece_store
from onechat_telegram.domain.bot_errors import (
    BotApiError,
    ChatClosed,
    ChatMoved,
    NotReached,
    OutcomeUnknown,
    Refused,
    delay_after,
)
from onechat_telegram.domain.ids import ChatId, private_chat_of
from onechat_telegram.domain.outgoing import REPEATS_MAX, Outgoing, PieceState, after_refusal
from onechat_telegram.link import Link
from onechat_telegram.ownership import Ownership
from onechat_telegram.putting import PictureLost, Putting
from onechat_telegram.replies import Replies

KEPT_FOR_A_CLOSED_CHAT: Final = 50  # pieces; else one that is never opened would be flooded when it is
_LAST_SEND_S: Final = 5.0  # for the answer to a send at work when the service ends
_SPREAD: Final = (0.8, 1.2)

Moved = Callable[[apsw.Connection, ChatId, ChatId], None]  #: a chat has another number now

log = logs.get("onechat_telegram.sending")


class Sending:
    """The one sender of pieces."""

    def __init__(
        self,
        putting: Putting,
        store: Store,
        replies: Replies,
        link: Link,
        ownership: Ownership,
        clock: Clock,
        rng: random.Random,
        reached: Reached,
        moved: Moved = piece_store.move_chat,
    ) -> None:
        """`moved` gives a chat its new number everywhere, in the transaction that it is called in."""
        self._putting = putting
        self._store = store
        self._replies = replies
        self._link = link
        self._ownership = ownership
        self._clock = clock
        self._rng = rng
        self._reached = reached
        self._moved = moved
        self._at_work: set[ChatId] = set()  #: whose lanes are

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
        async with asyncio.TaskGroup() as lanes:
            while True:
                self._replies.added.clear()
                for chat in self._store.read(piece_store.chats_to_send_to):
                    if chat not in self._at_work:
                        self._at_work.add(chat)
                        lanes.create_task(self._send_to(chat))
                await self._replies.added.wait()

    async def _send_to(self, chat: ChatId) -> None:
        """Send what is for `chat`, in order; ends when nothing is."""
        failures = 0
        try:
            while (piece := self._store.read(lambda db: piece_store.next_piece(db, chat))) is not None:
                delay_s = await self._tried(piece, failures)
                if delay_s is None:
                    failures = 0
                    continue
                failures += 1
                await self._clock.sleep(delay_s)
        finally:
            # No await stands between the last look and this, so what is added is seen here or by `run`.
            self._at_work.discard(chat)

    async def _tried(self, piece: Outgoing, failures: int) -> float | None:
        """None when `piece` is out of the way, or to be sent otherwise; else the seconds until its next try.

        `failures` of it came before.
        """
        try:
            await self._finished(piece, failures)
        except StoreFull:
            return delay_after(failures + 1, NotReached(), 1.0)
        except (BotApiError, RemoteError) as error:
            cause = error if isinstance(error, BotApiError) else NotReached()
            delay_s = round(delay_after(failures + 1, cause, self._rng.uniform(*_SPREAD)), 1)
            log.info("send_waits", piece=piece.number, error=type(error).__name__, again_in_s=delay_s)
            return delay_s
        return None

    async def _finished(self, piece: Outgoing, failures: int) -> None:
        """Send `piece`, to its end also when the service ends meanwhile: else it would be sent twice."""
        try:
            picture = await self._putting.picture(piece, failures)
        except PictureLost as lost:
            instead = lost.instead
            log.warning("picture_lost", piece=piece.number, image=piece.image)
            await self._store.write(lambda db: piece_store.send_instead(db, instead))
            return
        work = asyncio.ensure_future(self._send(piece, picture))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            await asyncio.wait({work}, timeout=_LAST_SEND_S)
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            raise

    async def _send(self, piece: Outgoing, picture: bytes) -> None:
        """One try. Raises what has to be waited for; the piece is then on disk as waiting."""
        await self._note(piece, PieceState.SENDING)
        self._reached("sending")
        try:
            message = await self._putting.put(piece, picture)
        except OutcomeUnknown as error:
            await self._unknown(piece, error)
            return
        except Refused as error:
            await self._refused(piece, error)
            return
        except ChatMoved as error:
            chat = error.chat
            log.info("chat_moved", piece=piece.number)
            await self._store.write(lambda db: self._moved(db, piece.chat, chat))
            self._replies.added.set()  # for the lane of the new one
            return
        except BotApiError as error:
            await self._note(piece, PieceState.WAITING)
            if isinstance(error, ChatClosed) and not await self._closed(piece):
                return
            raise
        self._reached("sent")
        now, bot = self._clock.now(), self._putting.bot
        await self._kept(lambda db: piece_store.set_sent(db, piece, bot, message, now))
        self._reached("recorded")
        self._link.answered()
        if self._is_owners(piece):
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
        once_more = piece.repeats == 0 and not piece.in_group
        state = PieceState.WAITING if once_more else PieceState.UNKNOWN
        now, again = self._clock.now(), replace(piece, repeats=piece.repeats + 1)
        await self._kept(lambda db: piece_store.set_state(db, again, state, now, str(error)))

    async def _refused(self, piece: Outgoing, error: BotApiError) -> None:
        instead = after_refusal(piece, str(error))
        if instead is not None:
            log.warning("send_refused", piece=piece.number, error=str(error))
            await self._store.write(lambda db: piece_store.send_instead(db, instead))
            return
        log.error("piece_set_aside", piece=piece.number, error=str(error))
        await self._note(piece, PieceState.ASIDE, str(error))

    def _is_owners(self, piece: Outgoing) -> bool:
        owner = self._ownership.owner
        return owner is not None and piece.chat == private_chat_of(owner)

    async def _closed(self, piece: Outgoing) -> bool:
        """The piece's chat takes no messages; whether to wait until it does."""
        if not self._is_owners(piece):
            await self._note(piece, PieceState.ASIDE, "the chat is closed, and not the owner's")
            return False
        self._link.chat_closed(True)
        now = self._clock.now()
        dropped = await self._store.write(
            lambda db: piece_store.drop_all_but(db, piece.chat, KEPT_FOR_A_CLOSED_CHAT, now)
        )
        if dropped:
            log.warning("pieces_dropped", pieces=dropped, why="the owner's chat is closed")
        return True
