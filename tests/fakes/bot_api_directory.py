"""Who and what chats the stand-in Bot API server knows: users, groups, their members, rights and topics.

Ids as Telegram has them: a user's own is that of their private chat too, a basic group's is negative, that of
a supergroup -100…; members are told apart by id. Methods of the Bot API that ask for these: bot_api_chats.py.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.fakes.bot_api_refusals import BLOCKED, CHAT_NOT_FOUND, RefusedByBotApi
from tests.fakes.bot_api_state import BotState, Json

OWNER = 5550001
ANONYMOUS = 1087968824  # GroupAnonymousBot, who stands for an administrator that hides
GENERAL = 1  # the topic that each forum has; never named in its messages
SUPERGROUPS = -1_000_000_000_000

Status = Literal["creator", "administrator", "member", "restricted", "left", "kicked"]
GroupType = Literal["group", "supergroup"]

#: What an administrator may do, as ChatMemberAdministrator names it, with what a new one gets.
RIGHTS = {
    "can_be_edited": False,
    "can_manage_chat": True,
    "can_delete_messages": True,
    "can_manage_video_chats": True,
    "can_restrict_members": True,
    "can_promote_members": False,
    "can_change_info": True,
    "can_invite_users": True,
    "can_post_stories": False,
    "can_edit_stories": False,
    "can_delete_stories": False,
    "can_pin_messages": True,
    "can_manage_topics": False,
}


#: What a restricted member may still do or not, as ChatMemberRestricted names it.
PERMISSIONS = (
    "can_send_messages",
    "can_send_audios",
    "can_send_documents",
    "can_send_photos",
    "can_send_videos",
    "can_send_video_notes",
    "can_send_voice_notes",
    "can_send_polls",
    "can_send_other_messages",
    "can_add_web_page_previews",
    "can_change_info",
    "can_invite_users",
    "can_pin_messages",
    "can_manage_topics",
    "can_edit_tag",
    "can_react_to_messages",
)


@dataclass(kw_only=True)
class Member:
    """Somebody's standing in a group. Who is restricted is inside and may write nothing."""

    user: int
    status: Status = "member"
    rights: dict[str, bool] = field(default_factory=dict)  #: where they differ from RIGHTS
    anonymous: bool = False  #: an administrator who writes as the group
    custom_title: str = ""

    @property
    def inside(self) -> bool:
        return self.status not in {"left", "kicked"}

    @property
    def administers(self) -> bool:
        return self.status in {"creator", "administrator"}

    def may(self, right: str) -> bool:
        return self.status == "creator" or (
            self.status == "administrator" and self.rights.get(right, RIGHTS[right])
        )


@dataclass(kw_only=True)
class Topic:
    """A thread of a forum; its id is that of the message that made it."""

    name: str
    closed: bool = False


@dataclass(kw_only=True)
class Group:
    """A basic group or a supergroup."""

    id: int
    type: GroupType
    title: str
    is_forum: bool = False
    members: dict[int, Member] = field(default_factory=dict)
    topics: dict[int, Topic] = field(default_factory=dict)
    moved_to: int | None = None  #: the supergroup that it has become
    private: bool = True  #: whether privacy mode was on when the bot was added
    hidden_members: bool = False  #: only administrators see who is there

    def member(self, user: int) -> Member:
        return self.members.get(user) or Member(user=user, status="left")

    def shown(self) -> Json:
        """As a Chat."""
        chat: Json = {"id": self.id, "type": self.type, "title": self.title}
        return chat | ({"is_forum": True} if self.is_forum else {})


class Directory:
    """Users and chats of one server."""

    def __init__(self, state: BotState) -> None:
        self._state = state
        self.opened: set[int] = set()  #: private chats that were opened by their user
        self.blocked: set[int] = set()  #: chats whose user has blocked the bot
        self.groups: dict[int, Group] = {}
        self._users: dict[int, Json] = {
            ANONYMOUS: {
                "id": ANONYMOUS,
                "is_bot": True,
                "first_name": "Group",
                "username": "GroupAnonymousBot",
            }
        }
        self._message_ids: Counter[int] = Counter()

    def introduce(self, user: int, first_name: str, **more: Any) -> int:
        """Have `user` shown by this name from now on; `more` are other fields of a User."""
        self._users[user] = {"id": user, "is_bot": False, "first_name": first_name} | more
        return user

    def user(self, user: int) -> Json:
        """As a User; who was never introduced is Ada."""
        if user == self._state.bot_id:
            return self._state.bot()
        return dict(self._users.get(user) or {"id": user, "is_bot": False, "first_name": "Ada"})

    def knows(self, user: int) -> bool:
        """Whether Telegram would find such a user for the bot."""
        groups = self.groups.values()
        return user in self._users or user in self.opened or any(user in group.members for group in groups)

    def chat(self, chat: int) -> Json:
        """As a Chat, a private one unless it is a group."""
        if chat in self.groups:
            return self.groups[chat].shown()
        user = self.user(chat)
        names = {name: user[name] for name in ("first_name", "last_name", "username") if name in user}
        return {"id": chat, "type": "private"} | names

    def member_shown(self, member: Member) -> Json:
        """As a ChatMember."""
        shown: Json = {"status": member.status, "user": self.user(member.user)}
        title = {"custom_title": member.custom_title} if member.custom_title else {}
        match member.status:
            case "creator":
                return shown | {"is_anonymous": member.anonymous} | title
            case "administrator":
                return shown | {"is_anonymous": member.anonymous} | RIGHTS | member.rights | title
            case "restricted":
                return shown | {"is_member": True, "until_date": 0} | dict.fromkeys(PERMISSIONS, False)
            case "kicked":
                return shown | {"until_date": 0}
            case _:
                return shown

    def next_message_id(self, chat: int) -> int:
        """Supergroups count their own messages; all other chats share the bot's count."""
        counted = chat if chat < SUPERGROUPS else 0
        self._message_ids[counted] += 1
        return self._message_ids[counted]

    def reached(self, chat: int) -> Group | None:
        """The group that a call means, None for a private chat; refused where the bot can't write."""
        group = self.groups.get(chat)
        if group is None:
            self._check_private(chat)
            return None
        if group.moved_to is not None:
            said = "Bad Request: group chat was upgraded to a supergroup chat"
            raise RefusedByBotApi(400, said, migrate_to_chat_id=group.moved_to)
        kind = f"{group.type} chat"
        match group.member(self._state.bot_id).status:
            case "kicked":
                raise RefusedByBotApi(403, f"Forbidden: bot was kicked from the {kind}")
            case "left":
                raise RefusedByBotApi(403, f"Forbidden: bot is not a member of the {kind}")
        return group

    def _check_private(self, chat: int) -> None:
        if chat not in self.opened:
            raise RefusedByBotApi(400, CHAT_NOT_FOUND)
        if chat in self.blocked:
            raise RefusedByBotApi(403, BLOCKED)
