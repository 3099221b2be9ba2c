"""The Bot API's methods that change or remove what was written. A bot can edit its own messages alone."""

from collections.abc import Mapping
from typing import Any

from tests.fakes.bot_api_directory import Directory
from tests.fakes.bot_api_fields import integer
from tests.fakes.bot_api_markup import inline_keyboard
from tests.fakes.bot_api_refusals import refused
from tests.fakes.bot_api_rules import formatted_caption, formatted_text
from tests.fakes.bot_api_state import BotState, Json
from tests.fakes.bot_api_troubles import FloodControl

DELETABLE_S = 48 * 3600
_NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same "
    "as a current content and reply markup of the message"
)


class Editing:
    """Edits leave the message in its place in what was sent, and are kept in their own order too."""

    def __init__(self, state: BotState, directory: Directory, flood: FloodControl) -> None:
        self._state = state
        self._directory = directory
        self._flood = flood

    async def edit_message_text(self, fields: Mapping[str, Any]) -> Json:
        """A keyboard that is not named again is gone."""
        shown = formatted_text(fields) | inline_keyboard(fields)
        message = self._own(fields)
        if "text" not in message:
            raise refused("there is no text in the message to edit")
        return self._show(message, ("text", "entities", "reply_markup"), shown)

    async def edit_message_caption(self, fields: Mapping[str, Any]) -> Json:
        shown = formatted_caption(fields) | inline_keyboard(fields)
        message = self._own(fields)
        if "photo" not in message and "document" not in message:
            raise refused("there is no caption in the message to edit")
        return self._show(message, ("caption", "caption_entities", "reply_markup"), shown)

    async def edit_message_reply_markup(self, fields: Mapping[str, Any]) -> Json:
        return self._show(self._own(fields), ("reply_markup",), inline_keyboard(fields))

    async def delete_message(self, fields: Mapping[str, Any]) -> bool:
        """Its own, anybody's in private, and in a group with the right; within 48 hours."""
        chat, message_id = integer(fields, "chat_id"), integer(fields, "message_id")
        group = self._directory.reached(chat)
        message = self._state.messages.get((chat, message_id))
        if message is None:
            raise refused("message to delete not found")
        own = message["from"]["id"] == self._state.bot_id
        admin = group is not None and group.member(self._state.bot_id).may("can_delete_messages")
        old = self._state.seconds() - message["date"] >= DELETABLE_S
        if not (own or admin or group is None) or (old and not admin):
            raise refused("message can't be deleted for everyone")
        del self._state.messages[chat, message_id]
        self._state.sent = [sent for sent in self._state.sent if sent is not message]
        self._state.deleted.append((chat, message_id))
        self._state.change()
        return True

    def _own(self, fields: Mapping[str, Any]) -> Json:
        chat, message_id = integer(fields, "chat_id"), integer(fields, "message_id")
        self._directory.reached(chat)
        message = self._state.messages.get((chat, message_id))
        if message is None:
            raise refused("message to edit not found")
        if message["from"]["id"] != self._state.bot_id:
            raise refused("message can't be edited")
        return message

    def _show(self, message: Json, parts: tuple[str, ...], shown: Json) -> Json:
        if all(_trimmed(message.get(part)) == _trimmed(shown.get(part)) for part in parts):
            raise refused(_NOT_MODIFIED)
        self._flood.check(message["chat"]["id"])
        for part in parts:
            message.pop(part, None)
        message |= shown | {"edit_date": self._state.seconds()}
        self._state.edits.append(dict(message))
        self._state.change()
        return message


def _trimmed(part: Any) -> Any:
    """Telegram shows no blanks at either end, so that a change of these alone is none."""
    return part.strip() if isinstance(part, str) else part
