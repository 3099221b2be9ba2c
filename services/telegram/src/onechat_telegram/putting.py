"""Puts one piece into its chat: its picture fetched, its messages sent, or a message changed to how it ended.

When a piece's turn comes, and what becomes of it if this fails: sending.py.
"""

from dataclasses import replace
from typing import Final

from onechat_runtime.errors import RemoteError
from onechat_runtime.store import Store

from onechat_telegram.adapters import piece_store
from onechat_telegram.adapters.agent import Agent
from onechat_telegram.adapters.bot_sends import BotSends
from onechat_telegram.domain.bot_errors import NotReached, OutcomeUnknown, Refused
from onechat_telegram.domain.ids import BotId, MessageId
from onechat_telegram.domain.outgoing import (
    PHOTO_BYTES_MAX,
    PICTURES,
    Message,
    Outgoing,
    messages_of,
    without_picture,
)
from onechat_telegram.domain.pieces import PieceKind

FETCH_TRIES: Final = 8  # in about two minutes; what comes after a picture waits for it meanwhile


class PictureLost(Exception):
    """The picture of a piece is not to be had: send `instead`."""

    def __init__(self, instead: Outgoing) -> None:
        super().__init__("the picture is not to be had")
        self.instead = instead


class Putting:
    """Knows how each kind of piece gets into its chat."""

    def __init__(self, sends: BotSends, agent: Agent, store: Store) -> None:
        self._sends = sends
        self._agent = agent
        self._store = store
        self._marked: set[tuple[int, int]] = set()  #: repeats whose mark is in the chat: piece, which repeat

    @property
    def bot(self) -> BotId:
        """Whose messages they are."""
        return self._sends.bot

    async def picture(self, piece: Outgoing, failures: int) -> bytes:
        """The bytes of `piece`'s picture; none for one without.

        Raises PictureLost where there is none, or after enough `failures`; else RemoteError: try again.
        """
        if piece.kind not in PICTURES:
            return b""
        try:
            found = await self._agent.image(piece.image)
        except RemoteError:
            if failures + 1 < FETCH_TRIES:
                raise
            raise PictureLost(without_picture(piece, "it could not be fetched")) from None
        if not found:
            raise PictureLost(without_picture(piece, "it is not stored, or damaged"))
        return found

    async def put(self, piece: Outgoing, picture: bytes) -> MessageId:
        """The message that `piece` is in its chat now. Raises BotApiError."""
        if piece.kind is PieceKind.OUTCOME and (changed := await self._changed(piece)) is not None:
            return changed
        *marks, last = messages_of(piece)
        for mark in marks:
            await self._mark(piece, mark)
        if len(picture) > PHOTO_BYTES_MAX and last.picture is not None:
            last = replace(last, picture=PieceKind.DOCUMENT)
        return await self._sends.send(piece.chat, last, picture)

    async def _mark(self, piece: Outgoing, mark: Message) -> None:
        """Have `mark` stand before a repeat without room for it: once, however often the rest is tried."""
        if (piece.number, piece.repeats) in self._marked:
            return
        try:
            await self._sends.send(piece.chat, mark)
        except OutcomeUnknown as error:
            raise NotReached(str(error)) from None  # two marks say no more than one
        self._marked.add((piece.number, piece.repeats))

    async def _changed(self, piece: Outgoing) -> MessageId | None:
        """The question's message, which says now how it ended; None where it is not there to be changed."""
        question = piece.question
        if question is None:
            return None
        message = self._store.read(
            lambda db: piece_store.message_of_question(db, question, self.bot, piece.chat)
        )
        if message is None:
            return None
        try:
            await self._sends.change(piece.chat, message, piece.text)
        except Refused:
            return None  # it was deleted, or is too old
        except OutcomeUnknown as error:
            raise NotReached(str(error)) from None  # to say the same again leaves no trace
        return message
