"""What the stand-in Bot API server knows of its bot, and the messages of all chats as they are shown now.

Messages are the Message objects of the Bot API as plain JSON, by chat and id. Times are unix seconds. Who and
what chats there are: bot_api_directory.py.
"""

import asyncio
import copy
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]


class BotState:
    """One bot; everything else of the server works on this."""

    def __init__(self, token: str, username: str, now: Callable[[], float] = time.time) -> None:
        self.token = token
        self.username = username
        self.now = now
        self.address = ""  #: "http://127.0.0.1:PORT" while it listens
        self.privacy = True  #: @BotFather's /setprivacy, for groups that the bot is added to from now on
        self.calls: Counter[str] = Counter()  #: calls by method, failed ones too
        self.sent: list[Json] = []  #: messages of the bot as they are shown now, oldest first
        self.edits: list[Json] = []  #: each edit by the bot, as the message was right after it
        self.deleted: list[tuple[int, int]] = []  #: messages that the bot has deleted: chat, message
        self.messages: dict[tuple[int, int], Json] = {}
        self.last_bots: dict[int, int] = {}  #: which bot has written last in a chat
        self._changed = asyncio.Event()
        self._watchers: list[Callable[[], None]] = []

    @property
    def bot_id(self) -> int:
        return int(self.token.split(":")[0])

    def bot(self) -> Json:
        """The bot as a User."""
        return {"id": self.bot_id, "is_bot": True, "first_name": "One", "username": self.username}

    def me(self) -> Json:
        """The bot as getMe alone shows it."""
        return self.bot() | {
            "can_join_groups": True,
            "can_read_all_group_messages": not self.privacy,
            "supports_inline_queries": False,
            "can_connect_to_business": False,
            "has_main_web_app": False,
        }

    def seconds(self) -> int:
        """The time that a message gets now."""
        return int(self.now())

    def keep(self, message: Json) -> Json:
        """Show `message` in its chat from now on."""
        chat, author = message["chat"]["id"], message["from"]
        self.messages[chat, message["message_id"]] = message
        if author["is_bot"] and "sender_chat" not in message:
            self.last_bots[chat] = author["id"]
        return message

    def quoted(self, chat: int, message_id: int) -> Json | None:
        """The message as another quotes it, which shows no further quote; None where there is none."""
        found = self.messages.get((chat, message_id))
        if found is None:
            return None
        return copy.deepcopy({name: value for name, value in found.items() if name != "reply_to_message"})

    async def until(self, condition: Callable[[], bool], within_s: float = 60.0) -> None:
        """Return once `condition` holds; TimeoutError after `within_s` of real time."""
        async with asyncio.timeout(within_s):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    def change(self) -> None:
        """Wake whoever waits for a change."""
        self._changed.set()
        for wake in self._watchers:
            wake()

    def watch(self, wake: Callable[[], None]) -> None:
        """Have `wake` called at each change."""
        self._watchers.append(wake)
