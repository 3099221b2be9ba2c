"""What people write in the stand-in Bot API server's chats: texts, photos, files, albums, edits, forwards.

Each act makes the message and the update that Telegram makes of it, if the bot gets to see it; the message's
id is the answer. Joining, leaving, topics: bot_api_groups.py. Buttons: bot_api_callbacks.py.
"""

import itertools
from collections.abc import Sequence
from typing import Any

from tests.fakes.bot_api_directory import ANONYMOUS, OWNER, Directory, Group
from tests.fakes.bot_api_files import Files
from tests.fakes.bot_api_found import with_found
from tests.fakes.bot_api_privacy import reaches_bot
from tests.fakes.bot_api_state import BotState, Json
from tests.fakes.bot_api_threads import standing
from tests.fakes.bot_api_updates import Updates


class People:
    """Everybody but the bot. `chat` is the writer's private one unless a group's is given."""

    def __init__(self, state: BotState, directory: Directory, updates: Updates, files: Files) -> None:
        self._state = state
        self._directory = directory
        self._updates = updates
        self._files = files
        self._albums = itertools.count(13_000_000_000_000)

    def say(self, text: str, **where: Any) -> int:
        """A text; `where` is as in `post`. Mentions and commands in it are marked as Telegram marks them."""
        entities = with_found(text, where.pop("entities", ()))
        return self.post({"text": text} | ({"entities": entities} if entities else {}), **where)

    def show_photo(self, data: bytes, caption: str = "", *, size: int | None = None, **where: Any) -> int:
        """A photo; `size` is what is said of its largest size."""
        content = {"photo": self._files.photo(data, size=size)}
        return self.post(content | self._captioned(caption, where), **where)

    def show_file(
        self,
        data: bytes,
        caption: str = "",
        *,
        name: str = "",
        mime: str = "",
        size: int | None = None,
        **where: Any,
    ) -> int:
        """A file, as its sender's client names and types it."""
        content = {"document": self._files.document(data, name=name, mime=mime, size=size)}
        return self.post(content | self._captioned(caption, where), **where)

    def show_album(self, photos: Sequence[tuple[bytes, str]], **where: Any) -> list[int]:
        """Photos with their captions, two to ten, each a message of its own; their ids."""
        if not 2 <= len(photos) <= 10:
            raise ValueError("an album has two to ten parts")
        album = str(next(self._albums))
        return [self.show_photo(data, text, media_group_id=album, **where) for data, text in photos]

    def forward(self, text: str, origin: int | str, **where: Any) -> int:
        """Words of another user, by id, or by the name of one who hides."""
        date = self._state.seconds() - 3600
        shown = (
            {"type": "hidden_user", "date": date, "sender_user_name": origin}
            if isinstance(origin, str)
            else {"type": "user", "date": date, "sender_user": self._directory.user(origin)}
        )
        return self.say(text, forward_origin=shown, **where)

    def edit(
        self,
        message_id: int,
        text: str,
        *,
        user: int = OWNER,
        chat: int | None = None,
        edit_date: int | None = None,
    ) -> None:
        """`user` edits a message of theirs: its text, or its caption where it has none."""
        where = user if chat is None else chat
        message = self._state.messages.get((where, message_id))
        if message is None:
            message = self._state.keep(self._begun(user, where, message_id, None))
        for part in ("entities", "caption_entities"):
            message.pop(part, None)
        captioned = "photo" in message or "document" in message
        found = with_found(text)
        message |= {"caption" if captioned else "text": text, "edit_date": edit_date or self._state.seconds()}
        message |= {"caption_entities" if captioned else "entities": found} if found else {}
        self._deliver("edited_message", message)

    def post(
        self,
        content: Json,
        *,
        user: int = OWNER,
        chat: int | None = None,
        thread: int | None = None,
        reply_to: int | None = None,
        date: int | None = None,
        message_id: int | None = None,
        to_bot: bool = False,
        **more: Any,
    ) -> int:
        """Any message. `thread` is a topic, `reply_to` a message of the chat, `more` any other fields.

        `to_bot` has it reach the bot in any case, as the group's word that it was removed does.
        """
        if chat is None:
            self._directory.opened.add(user)
        where = user if chat is None else chat
        group = self._group(chat, user)
        reply = None
        if reply_to is not None and (reply := self._state.quoted(where, reply_to)) is None:
            raise ValueError(f"there is no message {reply_to} in {where}")
        message_id = message_id or self._directory.next_message_id(where)
        message = self._begun(user, where, message_id, date)
        message |= standing(self._state, group, thread, reply) | content | more
        self._deliver("message", self._state.keep(message), to_bot=to_bot)
        return int(message["message_id"])

    def _begun(self, user: int, chat: int, message_id: int, date: int | None) -> Json:
        """A message without content yet. An administrator who hides writes as the group."""
        group = self._directory.groups.get(chat)
        hidden = group is not None and group.member(user).administers and group.member(user).anonymous
        message = {
            "message_id": message_id,
            "from": self._directory.user(ANONYMOUS if hidden else user),
            "chat": self._directory.chat(chat),
            "date": self._state.seconds() if date is None else date,
        }
        if not hidden or group is None:
            return message
        title = group.member(user).custom_title
        return message | {"sender_chat": group.shown()} | ({"author_signature": title} if title else {})

    def _group(self, chat: int | None, user: int) -> Group | None:
        if chat is None or chat == user:
            return None
        group = self._directory.groups[chat]
        if group.moved_to is not None or not group.member(user).inside:
            raise ValueError(f"user {user} can't write in {chat}")
        return group

    def _deliver(self, kind: str, message: Json, *, to_bot: bool = False) -> None:
        group = self._directory.groups.get(message["chat"]["id"])
        if to_bot or group is None or reaches_bot(self._state, group, message):
            self._updates.put({kind: message})

    def _captioned(self, caption: str, where: Json) -> Json:
        if not caption:
            return {}
        entities = with_found(caption, where.pop("caption_entities", ()))
        return {"caption": caption} | ({"caption_entities": entities} if entities else {})
