"""A Bot API server on loopback that keeps Telegram's promises, and breaks them on demand.

What it is made of, a file each, all beginning with bot_api_: state (the bot, its messages), updates (queue
and polling), sending, editing and callbacks (what the bot does), rules, markup and fields (what is refused),
files, directory and chats (who is there), threads (topics) and privacy, people and groups (what everybody
else does), troubles (faults, flood control), http. It answers python-telegram-bot and curl alike. As a
process of its own, for tests that kill the gateway: bot_api_process.py, also by `python -m
tests.fakes.bot_api --port N`.
"""

import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.fakes.bot_api_callbacks import Callbacks
from tests.fakes.bot_api_chats import Chats
from tests.fakes.bot_api_directory import ANONYMOUS, GENERAL, OWNER, Directory
from tests.fakes.bot_api_editing import Editing
from tests.fakes.bot_api_files import Files
from tests.fakes.bot_api_groups import Groups
from tests.fakes.bot_api_http import Method, app_of, serving_http
from tests.fakes.bot_api_people import People
from tests.fakes.bot_api_refusals import RefusedByBotApi
from tests.fakes.bot_api_sending import Sending
from tests.fakes.bot_api_state import BotState, Json
from tests.fakes.bot_api_troubles import FloodControl, Trouble, Troubles
from tests.fakes.bot_api_updates import Updates

__all__ = [
    "ANONYMOUS",
    "GENERAL",
    "OWNER",
    "TOKEN",
    "BotApi",
    "RefusedByBotApi",
    "Trouble",
    "app_of",
    "listening",
]

TOKEN = "8100200300:AAfake-token_of_the_stand-in-server"


class BotApi(BotState):
    """The server of one bot.

    Tests read it, and act as Telegram's users through `people`, `groups` and `callbacks`.
    """

    def __init__(
        self,
        token: str = TOKEN,
        *,
        username: str = "onechat_test_bot",
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(token, username, now)
        self.faults = Troubles()
        self.flood = FloodControl(now)
        self.files = Files(self.bot_id)
        self.directory = Directory(self)
        self.queue = Updates(self)
        self.people = People(self, self.directory, self.queue, self.files)
        self.groups = Groups(self, self.directory, self.queue, self.people)
        self.callbacks = Callbacks(self, self.directory, self.queue)
        self._sending = Sending(self, self.directory, self.files, self.flood)
        self._chats = Chats(self, self.directory, self.groups)
        self.methods = self._methods(Editing(self, self.directory, self.flood))

    def _methods(self, editing: Editing) -> dict[str, Method]:
        """What can be called, by the names of the Bot API's documentation."""

        async def get_me(_: Mapping[str, Any]) -> Json:
            return self.me()

        queue, sending, chats = self.queue, self._sending, self._chats
        return {
            "getMe": get_me,
            "getUpdates": queue.get_updates,
            "setWebhook": queue.set_webhook,
            "deleteWebhook": queue.delete_webhook,
            "getWebhookInfo": queue.get_webhook_info,
            "sendMessage": sending.send_message,
            "sendPhoto": sending.send_photo,
            "sendDocument": sending.send_document,
            "sendChatAction": sending.send_chat_action,
            "editMessageText": editing.edit_message_text,
            "editMessageCaption": editing.edit_message_caption,
            "editMessageReplyMarkup": editing.edit_message_reply_markup,
            "deleteMessage": editing.delete_message,
            "answerCallbackQuery": self.callbacks.answer_callback_query,
            "getFile": self.files.get_file,
            "getChat": chats.get_chat,
            "getChatMember": chats.get_chat_member,
            "getChatAdministrators": chats.get_chat_administrators,
            "getChatMemberCount": chats.get_chat_member_count,
            "leaveChat": chats.leave_chat,
            "setMyCommands": chats.set_my_commands,
            "getMyCommands": chats.get_my_commands,
            "deleteMyCommands": chats.delete_my_commands,
        }

    def say(self, text: str, **where: Any) -> int:
        """Somebody writes, the owner in private unless `where` says more (People.post); the message's id."""
        return self.people.say(text, **where)

    def edit(self, message_id: int, text: str, **where: Any) -> None:
        """Somebody edits a message of theirs; People.edit."""
        self.people.edit(message_id, text, **where)

    def update(self, body: Mapping[str, Any]) -> int:
        """Any update; gets the next id unless it has one."""
        return self.queue.put(body)

    def texts(self, chat: int = OWNER) -> list[str]:
        """What the bot has said in `chat`, oldest first; a picture says its caption."""
        here = [message for message in self.sent if message["chat"]["id"] == chat]
        return [message.get("text", message.get("caption", "")) for message in here]

    def fail(self, method: str, **what: Any) -> Trouble:
        """Have calls of `method` fail; see Trouble."""
        return self.faults.fail(method, **what)

    def heal(self) -> None:
        """End all troubles; calls that are held go on."""
        self.faults.heal()

    @property
    def troubles(self) -> list[Trouble]:
        return self.faults.ordered

    @property
    def chats(self) -> set[int]:
        """Private chats that were opened by their user."""
        return self.directory.opened

    @property
    def blocked(self) -> set[int]:
        """Private chats whose user has blocked the bot."""
        return self.directory.blocked

    @property
    def actions(self) -> list[tuple[int, str]]:
        """sendChatAction: chat, action."""
        return self._sending.actions

    @property
    def commands(self) -> list[Json]:
        """The command menu of everybody who has none of their own."""
        return self._chats.commands

    @property
    def updates(self) -> list[Json]:
        """Not yet confirmed."""
        return self.queue.waiting

    @property
    def confirmed(self) -> list[int]:
        """Offsets that a poller has sent."""
        return self.queue.confirmed

    @property
    def allowed_updates(self) -> list[str] | None:
        """As the last poll that named some."""
        return self.queue.allowed

    @property
    def next_update_id(self) -> int:
        return self.queue.next_id

    @next_update_id.setter
    def next_update_id(self, update_id: int) -> None:
        self.queue.next_id = update_id


@asynccontextmanager
async def listening(
    api: BotApi, app: web.Application | None = None, *, port: int = 0
) -> AsyncIterator[BotApi]:
    """Serve `api` on loopback; `api.address` is set."""
    async with serving_http(api, app, port=port):
        yield api


if __name__ == "__main__":
    from tests.fakes.bot_api_process import main

    main()
