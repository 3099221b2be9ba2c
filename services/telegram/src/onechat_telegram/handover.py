"""Handing over what came: the owner's messages to the agent, commands to its commands, presses to the
buttons, what belongs to groups to the groups, a line to anybody else.

One update at a time of each lane, called by the outbox, which tries again or sets aside. What is said in
answer is added to the pieces in the transaction that forgets the update.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.steps import Reached
from onechat_runtime.store import Store

from onechat_telegram.adapters import piece_store
from onechat_telegram.adapters.agent import Agent
from onechat_telegram.adapters.bot_sends import BotSends
from onechat_telegram.domain.bot_errors import BotApiError
from onechat_telegram.domain.callbacks import Callback
from onechat_telegram.domain.commands import Start, command_of, given_at
from onechat_telegram.domain.entities import Entity
from onechat_telegram.domain.ids import ChatId, UserId, bot_of_update_key, key_for_message, private_chat_of
from onechat_telegram.domain.outgoing import Message
from onechat_telegram.domain.pieces import Piece, plain_pieces_of
from onechat_telegram.domain.updates import InGroup, PassedOver, Written, read_update
from onechat_telegram.domain.utf16 import units
from onechat_telegram.domain.wording import ALREADY_YOURS, WELCOME, for_agent, not_read
from onechat_telegram.images import Images, NotAPicture
from onechat_telegram.joining import KIND, Joining
from onechat_telegram.ownership import Ownership
from onechat_telegram.replies import Replies

_NOTHING: Final = b""

log = logs.get("onechat_telegram.handover")


class Groups(Protocol):
    """Whoever serves group chats and their members."""

    async def take(self, key: str, update: Mapping[str, Any]) -> bool:
        """Take an update of a group, or somebody's message in private; whether it was theirs.

        `key` is the inbox's. The same may come again after a kill. What it raises is tried again as any
        hand-over is.
        """


class Buttons(Protocol):
    """Whoever knows what the bot's buttons do."""

    async def answer(self, callback: Callback) -> None:
        """Do what was pressed; the same press may come again after a kill."""


class Handover:
    """Takes updates from the inbox to where they belong."""

    def __init__(
        self,
        sends: BotSends,
        agent: Agent,
        store: Store,
        ownership: Ownership,
        replies: Replies,
        images: Images,
        clock: Clock,
        reached: Reached,
        *,
        buttons: Buttons | None = None,
        groups: Groups | None = None,
    ) -> None:
        """Without `buttons` or `groups`, what is theirs is passed over."""
        self._sends = sends
        self._agent = agent
        self._ownership = ownership
        self._replies = replies
        self._images = images
        self._joining = Joining(store, clock)
        self._clock = clock
        self._reached = reached
        self._buttons = buttons
        self._groups = groups

    async def hand_over(self, key: str, body: bytes) -> bytes:
        """Act on the update in `body`; what `settled` is to do with it. Raises what made it fail."""
        update = json.loads(body)
        match read_update(update):
            case PassedOver():
                return _NOTHING
            case Callback() as callback:
                if self._buttons is not None:
                    await self._buttons.answer(callback)
                return _NOTHING
            case InGroup():
                if self._groups is not None:
                    await self._groups.take(key, update)
                return _NOTHING
            case Written() as written if written.chat != self._owner_chat:
                return await self._somebody(key, written, update)
            case Written() as written if written.is_command:
                return await self._command(key, written, update)
            case Written() as written:
                return await self._message(key, written, update)

    def settled(self, db: apsw.Connection, kind: str, key: str, answer: bytes) -> None:
        """In the transaction that forgets the update: what is said in answer, and who owns the bot now."""
        if kind != KIND:
            return
        self._joining.settled(db, key)
        if answer == _NOTHING:
            return
        self._reached("settling")
        told = json.loads(answer)
        if told["pairs"]:
            self._ownership.pair(db, UserId(told["chat"]))
        pieces = tuple(_in_columns(piece) for piece in plain_pieces_of(told["text"]))
        piece_store.add_answer(db, key, ChatId(told["chat"]), pieces, self._clock.now())
        self._replies.look_when_committed()

    @property
    def _owner_chat(self) -> ChatId | None:
        owner = self._ownership.owner
        return None if owner is None else private_chat_of(owner)

    async def _message(self, key: str, first: Written, update: Mapping[str, Any]) -> bytes:
        parts = [part.written for part in await self._joining.whole(key, update)]
        self._reached("joined")
        names, faults = await self._stored(parts)
        if names or any(part.text for part in parts):
            await self._deliver(key, parts, names, len(faults))
        told = "\n".join(filter(None, [not_read(parts), *dict.fromkeys(faults)]))
        return _answer(first.chat, told) if told else _NOTHING

    async def _deliver(self, key: str, parts: Sequence[Written], names: Sequence[str], unread: int) -> None:
        first = parts[0]
        # Else the answer could come before the place in the events is known, and be missed.
        await self._replies.followed()
        delivery = key_for_message(bot_of_update_key(key), first.chat, first.message, first.edit_date)
        self._reached("handing_over")
        await self._agent.deliver(delivery, first, for_agent(parts, unread), names)
        self._reached("handed_over")

    async def _stored(self, parts: Sequence[Written]) -> tuple[list[str], list[str]]:
        """The names of the pictures in `parts`, and why each of the others could not be read."""
        names: list[str] = []
        faults: list[str] = []
        for picture in (part.picture for part in parts if part.picture is not None):
            try:
                names.append(await self._images.stored(picture))
            except NotAPicture as fault:
                faults.append(str(fault))
            self._reached("stored")
        return names, faults

    async def _command(self, key: str, written: Written, update: Mapping[str, Any]) -> bytes:
        command = command_of(written.text)
        if isinstance(command, Start):
            return _answer(written.chat, ALREADY_YOURS)
        request = key_for_message(bot_of_update_key(key), written.chat, written.message, written.edit_date)
        given = given_at(written.edit_date or written.date, self._clock.now())
        answer = await self._agent.run_command(command, request, given)
        self._reached("command_run")
        if answer is None:
            return await self._message(key, written, update)
        return _answer(written.chat, answer)

    async def _somebody(self, key: str, written: Written, update: Mapping[str, Any]) -> bytes:
        """Whoever is not the owner: who pairs becomes it, a member of a group is the groups', others wait."""
        if written.is_command:
            command = command_of(written.text)
            if isinstance(command, Start) and self._ownership.pairs(command.code):
                return _answer(written.chat, WELCOME, pairs=True)
        if self._groups is not None and await self._groups.take(key, update):
            return _NOTHING
        refusal = await self._ownership.refusal_for(written.user)
        if refusal:
            try:
                await self._sends.send(written.chat, Message(text=refusal, entities=()))
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
