"""What the bot asks Telegram of groups, and does with its own place in them. Raises BotApiError alone.

A basic group that is a supergroup by now is asked under its new number.
"""

from typing import Any, Final

from onechat_telegram.adapters.bot_api import BotApi
from onechat_telegram.domain.bot_errors import ChatClosed, ChatMoved, NotReached, Refused
from onechat_telegram.domain.ids import ChatId

_INSIDE: Final = frozenset({"creator", "administrator", "member"})
_NO_MESSAGE: Final = 2_000_000_000  # far beyond the ids that a bot's groups come to
_NOT_SHOWN: Final = ("chat_admin_required", "member list is inaccessible")  # to a bot that is none


class BotGroups:
    """One bot's groups."""

    def __init__(self, api: BotApi) -> None:
        self._api = api

    async def administrators(self, chat: ChatId) -> frozenset[int]:
        """Who administers the group now, those who hide too; nobody where the bot is not in it."""
        try:
            found = await self._asked("getChatAdministrators", chat)
        except (Refused, ChatClosed):
            return frozenset()
        if not isinstance(found, list):
            raise NotReached("an answer that is not Telegram's")
        return frozenset(int(member["user"]["id"]) for member in found)

    async def is_inside(self, chat: ChatId, member: int) -> bool:
        """Whether `member` is in the group now.

        A group that hides its members shows a bot its administrators alone, unless it is one of them.
        """
        try:
            found = await self._asked("getChatMember", chat, user_id=member)
        except ChatClosed:
            return False
        except Refused as error:
            hidden = any(sign in str(error).lower() for sign in _NOT_SHOWN)
            return hidden and member in await self.administrators(chat)
        if not isinstance(found, dict):
            raise NotReached("an answer that is not Telegram's")
        status = found.get("status")
        return status in _INSIDE or (status == "restricted" and bool(found.get("is_member")))

    async def supergroup_of(self, basic: ChatId) -> ChatId | None:
        """The supergroup that the basic group has become; None for one that is as it was, or left.

        Only what would change something there is refused with the new number; this would take away a message
        that cannot be.
        """
        try:
            await self._call("deleteMessage", basic, message_id=_NO_MESSAGE)
        except ChatMoved as moved:
            return moved.chat
        except (Refused, ChatClosed):
            return None
        return None

    async def leave(self, chat: ChatId) -> None:
        """Leave the group; that the bot is not in it is no error."""
        try:
            await self._asked("leaveChat", chat)
        except (Refused, ChatClosed):
            return

    async def _asked(self, method: str, chat: ChatId, **fields: Any) -> object:
        try:
            return await self._call(method, chat, **fields)
        except ChatMoved as moved:
            now = moved.chat
        return await self._call(method, now, **fields)

    async def _call(self, method: str, chat: ChatId, **fields: Any) -> object:
        # Raw JSON: the typed methods refuse a kind of member that their version does not know.
        return await self._api.ask(lambda bot: bot.do_api_request(method, {"chat_id": chat, **fields}))
