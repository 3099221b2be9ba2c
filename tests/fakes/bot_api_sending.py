"""The Bot API's methods that write: texts, photos and files, and "typing…". Checks: bot_api_rules.py."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.fakes.bot_api_directory import GENERAL, Directory
from tests.fakes.bot_api_fields import Upload, file_or_id, flag, integer, structured, text
from tests.fakes.bot_api_files import Files
from tests.fakes.bot_api_markup import inline_keyboard
from tests.fakes.bot_api_refusals import refused
from tests.fakes.bot_api_rules import formatted_caption, formatted_text
from tests.fakes.bot_api_state import BotState, Json
from tests.fakes.bot_api_threads import answered, standing, topic_of
from tests.fakes.bot_api_troubles import FloodControl

_ACTIONS = {
    "typing",
    "upload_photo",
    "record_video",
    "upload_video",
    "record_voice",
    "upload_voice",
    "upload_document",
    "choose_sticker",
    "find_location",
    "record_video_note",
    "upload_video_note",
}


class Sending:
    """What the bot writes, kept as it is shown."""

    def __init__(self, state: BotState, directory: Directory, files: Files, flood: FloodControl) -> None:
        self._state = state
        self._directory = directory
        self._files = files
        self._flood = flood
        self.actions: list[tuple[int, str]] = []  #: sendChatAction: chat, action

    async def send_message(self, fields: Mapping[str, Any]) -> Json:
        preview = structured(fields, "link_preview_options")
        shown = formatted_text(fields) | ({"link_preview_options": preview} if preview else {})
        return self._write(fields, lambda: shown, "text messages")

    async def send_photo(self, fields: Mapping[str, Any]) -> Json:
        photo, caption = file_or_id(fields, "photo"), formatted_caption(fields)
        spoiler = {"has_media_spoiler": True} if flag(fields, "has_spoiler") else {}
        return self._write(fields, lambda: {"photo": self._photo(photo)} | caption | spoiler, "photos")

    async def send_document(self, fields: Mapping[str, Any]) -> Json:
        document, caption = file_or_id(fields, "document"), formatted_caption(fields)
        return self._write(fields, lambda: {"document": self._document(document)} | caption, "documents")

    async def send_chat_action(self, fields: Mapping[str, Any]) -> bool:
        chat, action = integer(fields, "chat_id"), text(fields, "action")
        if action not in _ACTIONS:
            raise refused("wrong parameter action in request")
        group = self._directory.reached(chat)
        # Unlike a message, it may name the general topic.
        if integer(fields, "message_thread_id", GENERAL) != GENERAL:
            topic_of(self._state, group, fields, None)
        self.actions.append((chat, action))
        self._state.change()
        return True

    def _write(self, fields: Mapping[str, Any], content: Callable[[], Json], kind: str) -> Json:
        chat, markup = integer(fields, "chat_id"), inline_keyboard(fields)
        group = self._directory.reached(chat)
        if group is not None and group.member(self._state.bot_id).status == "restricted":
            raise refused(f"not enough rights to send {kind} to the chat")
        reply = answered(self._state, chat, fields)
        thread = topic_of(self._state, group, fields, reply)
        shown = content()
        self._flood.check(chat)
        message = {
            "message_id": self._directory.next_message_id(chat),
            "from": self._state.bot(),
            "chat": self._directory.chat(chat),
            "date": self._state.seconds(),
        }
        message |= standing(self._state, group, thread, reply) | shown | markup
        if flag(fields, "protect_content"):
            message["has_protected_content"] = True
        self._state.sent.append(self._state.keep(message))
        self._state.change()
        return message

    def _photo(self, given: Upload | str) -> list[Json]:
        if isinstance(given, Upload):
            return self._files.sent_photo(given.data)
        return self._files.known_photo(given)

    def _document(self, given: Upload | str) -> Json:
        if isinstance(given, Upload):
            return self._files.sent_document(given.data, given.name, given.content_type)
        return self._files.known_document(given)
