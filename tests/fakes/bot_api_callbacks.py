"""Buttons under a message: somebody presses one, and the bot answers the query that it makes, once."""

import copy
import itertools
from collections.abc import Mapping
from typing import Any

from tests.fakes.bot_api_directory import OWNER, Directory
from tests.fakes.bot_api_fields import flag, text
from tests.fakes.bot_api_refusals import refused
from tests.fakes.bot_api_rules import units
from tests.fakes.bot_api_state import BotState, Json
from tests.fakes.bot_api_updates import Updates

ANSWER_MAX = 200
_GONE = "query is too old and response timeout expired or query ID is invalid"


class Callbacks:
    """Callback queries by id, and what the bot has said to each."""

    def __init__(self, state: BotState, directory: Directory, updates: Updates) -> None:
        self._state = state
        self._directory = directory
        self._updates = updates
        self._open: set[str] = set()
        self._numbers = itertools.count(4_000_000_000)
        self.answers: dict[str, Json] = {}  #: by query: text and show_alert, as they were answered

    def press(self, message_id: int, button: str, *, user: int = OWNER, chat: int | None = None) -> str:
        """`user` presses the button that says `button` (or bears it as data); the query's id.

        ValueError when the message shows no such button now, as in a client of Telegram.
        """
        where = user if chat is None else chat
        message = self._state.messages[where, message_id]
        rows = message.get("reply_markup", {}).get("inline_keyboard", [])
        for shown in itertools.chain.from_iterable(rows):
            if button in (shown["text"], shown.get("callback_data")) and "callback_data" in shown:
                return self.ask(shown["callback_data"], message, user=user)
        raise ValueError(f"message {message_id} shows no button {button!r}")

    def ask(self, data: str, message: Json, *, user: int = OWNER) -> str:
        """A callback query with any data, as a client of somebody's own making may send it; its id."""
        query = str(next(self._numbers))
        self._open.add(query)
        self._updates.put(
            {
                "callback_query": {
                    "id": query,
                    "from": self._directory.user(user),
                    "message": copy.deepcopy(message),
                    "chat_instance": str(message["chat"]["id"] * 7919),
                    "data": data,
                }
            }
        )
        return query

    def expire(self) -> None:
        """As after some minutes: no query that is open now can be answered."""
        self._open.clear()

    async def answer_callback_query(self, fields: Mapping[str, Any]) -> bool:
        query, said = text(fields, "callback_query_id"), text(fields, "text")
        if query not in self._open:
            raise refused(_GONE)
        if units(said) > ANSWER_MAX:
            raise refused("MESSAGE_TOO_LONG")
        self._open.discard(query)
        self.answers[query] = {"text": said, "show_alert": flag(fields, "show_alert")}
        self._state.change()
        return True
