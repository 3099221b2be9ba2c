"""Handing over what came: the owner's texts to the agent, commands to its commands, a line to anybody else.

One update at a time of each lane, called by the outbox, which tries again or sets aside. What is said in
answer is added to the pieces in the transaction that forgets the update.
"""

import json
from dataclasses import replace
from typing import Final

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.store import Store

from onechat_telegram.adapters import piece_store
from onechat_telegram.adapters.agent import Agent
from onechat_telegram.adapters.bot_api import BotApi
from onechat_telegram.domain.bot_errors import BotApiError
from onechat_telegram.domain.commands import Start, command_of, given_at
from onechat_telegram.domain.entities import Entity
from onechat_telegram.domain.ids import ChatId, UserId, bot_of_update_key, key_for_message, private_chat_of
from onechat_telegram.domain.outgoing import Message
from onechat_telegram.domain.pieces import Piece, plain_pieces_of
from onechat_telegram.domain.updates import NotRead, PassedOver, Written, read_update
from onechat_telegram.domain.utf16 import units
from onechat_telegram.domain.wording import ALREADY_YOURS, WELCOME, for_agent, not_read
from onechat_telegram.ownership import Ownership
from onechat_telegram.replies import Replies
from onechat_telegram.steps import Reached

_NOTHING: Final = b""

log = logs.get("onechat_telegram.handover")


class Handover:
    """Takes updates from the inbox to where they belong."""

    def __init__(
        self,
        api: BotApi,
        agent: Agent,
        store: Store,
        ownership: Ownership,
        replies: Replies,
        clock: Clock,
        reached: Reached,
    ) -> None:
        self._api = api
        self._agent = agent
        self._store = store
        self._ownership = ownership
        self._replies = replies
        self._clock = clock
        self._reached = reached

    async def hand_over(self, key: str, body: bytes) -> bytes:
        """Act on the update in `body`; what `settled` is to do with it. Raises what made it fail."""
        incoming = read_update(json.loads(body))
        if isinstance(incoming, PassedOver):
            return _NOTHING
        if incoming.chat != self._owner_chat:
            return await self._stranger(incoming)
        if isinstance(incoming, NotRead):
            return _answer(incoming.chat, not_read(incoming.kind))
        if incoming.is_command:
            return await self._command(key, incoming)
        return await self._message(key, incoming)

    def settled(self, db: apsw.Connection, kind: str, key: str, answer: bytes) -> None:
        """In the transaction that forgets the update: what is said in answer, and who owns the bot now."""
        if answer == _NOTHING:
            return
        self._reached("settling")
        told = json.loads(answer)
        if told["pairs"]:
            self._ownership.pair(db, UserId(told["chat"]))
        pieces = tuple(_in_columns(piece) for piece in plain_pieces_of(told["text"].strip("\n")))
        piece_store.add_answer(db, key, ChatId(told["chat"]), pieces, self._clock.now())
        self._replies.look_when_committed()

    @property
    def _owner_chat(self) -> ChatId | None:
        owner = self._ownership.owner
        return None if owner is None else private_chat_of(owner)

    async def _message(self, key: str, written: Written) -> bytes:
        # Else the answer could come before the place in the events is known, and be missed.
        await self._replies.followed()
        delivery = key_for_message(bot_of_update_key(key), written.chat, written.message, written.edit_date)
        self._reached("handing_over")
        await self._agent.deliver(delivery, written, for_agent(written))
        self._reached("handed_over")
        return _NOTHING

    async def _command(self, key: str, written: Written) -> bytes:
        command = command_of(written.text)
        if isinstance(command, Start):
            return _answer(written.chat, ALREADY_YOURS)
        request = key_for_message(bot_of_update_key(key), written.chat, written.message, written.edit_date)
        given = given_at(written.edit_date or written.date, self._clock.now())
        answer = await self._agent.run_command(command, request, given)
        self._reached("command_run")
        return await self._message(key, written) if answer is None else _answer(written.chat, answer)

    async def _stranger(self, incoming: Written | NotRead) -> bytes:
        if isinstance(incoming, Written) and incoming.is_command:
            command = command_of(incoming.text)
            if isinstance(command, Start) and self._ownership.pairs(command.code):
                return _answer(incoming.chat, WELCOME, pairs=True)
        refusal = await self._ownership.refusal_for(incoming.user)
        if refusal:
            try:
                await self._api.send(incoming.chat, Message(text=refusal, entities=()))
            except BotApiError as error:
                log.info("refusal_not_sent", error=type(error).__name__)  # nobody waits for it
        return _NOTHING


def _answer(chat: ChatId, text: str, *, pairs: bool = False) -> bytes:
    return json.dumps({"chat": chat, "text": text, "pairs": pairs}).encode()


def _in_columns(piece: Piece) -> Piece:
    """`piece` in letters of one width where it has columns, which else do not stand under one another."""
    if "  " not in piece.text.strip():
        return piece
    return replace(piece, entities=(Entity(type="pre", offset=0, length=units(piece.text)),))
