"""The Bot API's methods about chats and their members, and the bot's command menus."""

from collections.abc import Mapping
from typing import Any

from tests.fakes.bot_api_directory import PERMISSIONS, Directory, Group
from tests.fakes.bot_api_fields import given, integer, structured
from tests.fakes.bot_api_groups import Groups
from tests.fakes.bot_api_markup import checked_commands
from tests.fakes.bot_api_refusals import CHAT_NOT_FOUND, RefusedByBotApi, refused
from tests.fakes.bot_api_state import BotState, Json

_DEFAULT_SCOPE = {"type": "default"}


class Chats:
    """What a bot can ask of chats, and do with its own place in them."""

    def __init__(self, state: BotState, directory: Directory, groups: Groups) -> None:
        self._state = state
        self._directory = directory
        self._groups = groups
        self._menus: dict[str, list[Json]] = {}

    @property
    def commands(self) -> list[Json]:
        """The command menu that everybody sees who has none of their own."""
        return self._menus.get(_menu_key({}), [])

    async def get_chat(self, fields: Mapping[str, Any]) -> Json:
        chat = integer(fields, "chat_id")
        group = self._directory.reached(chat)
        full = self._directory.chat(chat) | {
            "accent_color_id": 0,
            "max_reaction_count": 11,
            "accepted_gift_types": dict.fromkeys(
                (
                    "unlimited_gifts",
                    "limited_gifts",
                    "unique_gifts",
                    "premium_subscription",
                    "gifts_from_channels",
                ),
                False,
            ),
        }
        if group is not None and group.hidden_members:
            full["has_hidden_members"] = True
        return full | ({"permissions": dict.fromkeys(PERMISSIONS, True)} if group else {})

    async def get_chat_member(self, fields: Mapping[str, Any]) -> Json:
        """Sure to work for others only while the bot is an administrator itself."""
        group, user = self._group(fields), integer(fields, "user_id")
        own = group.member(self._state.bot_id)
        if group.hidden_members and user != own.user and not own.administers:
            raise refused("CHAT_ADMIN_REQUIRED")
        if user != self._state.bot_id and not self._directory.knows(user):
            raise refused("PARTICIPANT_ID_INVALID")
        return self._directory.member_shown(group.member(user))

    async def get_chat_administrators(self, fields: Mapping[str, Any]) -> list[Json]:
        """All administrators except other bots; those who hide are among them."""
        return [
            self._directory.member_shown(member)
            for member in self._group(fields).members.values()
            if member.administers
            and (member.user == self._state.bot_id or not self._directory.user(member.user)["is_bot"])
        ]

    async def get_chat_member_count(self, fields: Mapping[str, Any]) -> int:
        group = self._directory.reached(integer(fields, "chat_id"))
        return 2 if group is None else sum(member.inside for member in group.members.values())

    async def leave_chat(self, fields: Mapping[str, Any]) -> bool:
        group = self._group(fields)
        self._groups.bot_becomes(group.id, "left", by=self._state.bot_id)
        return True

    async def set_my_commands(self, fields: Mapping[str, Any]) -> bool:
        self._menus[_menu_key(fields)] = checked_commands(structured(fields, "commands"))
        self._state.change()
        return True

    async def get_my_commands(self, fields: Mapping[str, Any]) -> list[Json]:
        return self._menus.get(_menu_key(fields), [])

    async def delete_my_commands(self, fields: Mapping[str, Any]) -> bool:
        self._menus.pop(_menu_key(fields), None)
        self._state.change()
        return True

    def _group(self, fields: Mapping[str, Any]) -> Group:
        group = self._directory.reached(integer(fields, "chat_id"))
        if group is None:
            raise RefusedByBotApi(400, "Bad Request: there are no administrators in the private chat")
        return group


def _menu_key(fields: Mapping[str, Any]) -> str:
    """A menu is for a scope and a language; neither given is everybody's."""
    scope = structured(fields, "scope") or _DEFAULT_SCOPE
    if not isinstance(scope, dict) or "type" not in scope:
        raise RefusedByBotApi(400, CHAT_NOT_FOUND if given(fields, "scope") else "Bad Request: no scope")
    language = str(fields.get("language_code", ""))
    return f"{sorted((name, str(value)) for name, value in scope.items())} {language}"
