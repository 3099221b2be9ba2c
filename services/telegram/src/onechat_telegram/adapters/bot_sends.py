"""What the bot puts into chats: messages, pictures, changes of messages, answers to pressed buttons.

Every call raises BotApiError alone. Polls and the link itself: bot_api.py.
"""

from collections.abc import Sequence
from typing import Any, Final

import telegram

from onechat_telegram.adapters.bot_api import BotApi
from onechat_telegram.domain import admissions
from onechat_telegram.domain.bot_errors import NotReached, Refused
from onechat_telegram.domain.callbacks import Press, Question, data_of
from onechat_telegram.domain.entities import Entity
from onechat_telegram.domain.ids import BotId, ChatId, MessageId
from onechat_telegram.domain.outgoing import Message
from onechat_telegram.domain.pieces import PieceKind
from onechat_telegram.domain.proposals import NO, YES

TOLD_MAX: Final = 200  # letters; Bot API, answerCallbackQuery
GENERAL_TOPIC: Final = 1  # a forum's first topic, whose number no call may name
_SAME: Final = "message is not modified"
# A preview would have Telegram open an address that outside text may have put into the reply.
_NO_PREVIEW: Final = telegram.LinkPreviewOptions(is_disabled=True)


class BotSends:
    """One bot's calls that people see something of."""

    def __init__(self, api: BotApi) -> None:
        self._api = api

    @property
    def bot(self) -> BotId:
        """Whose messages these are."""
        return self._api.bot

    async def send(self, chat: ChatId, message: Message, picture: bytes = b"") -> MessageId:
        """Send `message` to `chat`, with `picture` where it has one; its id."""
        fields = {"chat_id": chat, **_placed(message)}
        entities = _entities(message.entities)
        if message.picture is None:
            fields |= {"text": message.text, "entities": entities, "link_preview_options": _NO_PREVIEW}
            return await self._sent("sendMessage", fields)
        file = telegram.InputFile(picture, filename=message.image)
        fields |= {"caption": message.text or None, "caption_entities": entities}
        if message.picture is PieceKind.PHOTO:
            return await self._sent("sendPhoto", fields | {"photo": file})
        return await self._sent("sendDocument", fields | {"document": file})

    async def change(self, chat: ChatId, message: MessageId, text: str) -> None:
        """Have `message` say `text`, without buttons; one that says so already is left alone."""
        try:
            await self._api.ask(
                lambda bot: bot.edit_message_text(text, chat, message, link_preview_options=_NO_PREVIEW)
            )
        except Refused as error:
            if _SAME not in str(error).lower():
                raise

    async def take_buttons(self, chat: ChatId, message: MessageId) -> None:
        """Have `message` show no buttons."""
        try:
            await self._api.ask(lambda bot: bot.edit_message_reply_markup(chat, message))
        except Refused as error:
            if _SAME not in str(error).lower():
                raise

    async def delete(self, chat: ChatId, message: MessageId) -> None:
        """Take `message` out of `chat`."""
        await self._api.ask(lambda bot: bot.delete_message(chat, message))

    async def tell_presser(self, press: str, text: str, *, alert: bool = False) -> None:
        """End the wait of whoever pressed a button, with `text`; as a window to be closed with `alert`."""
        told = text[:TOLD_MAX]
        await self._api.ask(lambda bot: bot.answer_callback_query(press, told, show_alert=alert))

    async def _sent(self, method: str, fields: dict[str, Any]) -> MessageId:
        # Raw JSON: an answer that quotes what the library cannot read would count as none, and be sent again.
        given = {name: value for name, value in fields.items() if value is not None}
        sent = await self._api.ask(lambda bot: bot.do_api_request(method, given))
        number = sent.get("message_id") if isinstance(sent, dict) else None
        if not isinstance(number, int):
            raise NotReached("an answer that is not Telegram's")
        return MessageId(number)


def _placed(message: Message) -> dict[str, Any]:
    more: dict[str, Any] = {}
    if message.question is not None and (buttons := _buttons(message.question)) is not None:
        more["reply_markup"] = buttons
    if message.answers is not None:
        more["reply_parameters"] = telegram.ReplyParameters(message.answers, allow_sending_without_reply=True)
    if message.topic is not None and message.topic != GENERAL_TOPIC:
        more["message_thread_id"] = message.topic
    return more


def _buttons(question: Question) -> telegram.InlineKeyboardMarkup | None:
    names = {True: YES if question.group is None else admissions.YES, False: NO}
    row = [
        telegram.InlineKeyboardButton(name, callback_data=data)
        for yes, name in names.items()
        if (data := data_of(Press(question=question, yes=yes)))
    ]
    return telegram.InlineKeyboardMarkup([row]) if row else None


def _entities(entities: Sequence[Entity]) -> list[telegram.MessageEntity] | None:
    return [
        telegram.MessageEntity(
            entity.type,
            entity.offset,
            entity.length,
            url=entity.url or None,
            language=entity.language or None,
        )
        for entity in entities
    ] or None
