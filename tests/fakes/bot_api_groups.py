"""What happens to groups in the stand-in Bot API server: founded, joined, left, administered, moved, given
topics.

Each act makes the updates that Telegram makes of it: service messages, my_chat_member for the bot's own
place, and chat_member for that of others while the bot administers the group.
"""

import itertools
from collections.abc import Sequence

from tests.fakes.bot_api_directory import (
    GENERAL,
    OWNER,
    SUPERGROUPS,
    Directory,
    Group,
    GroupType,
    Member,
    Status,
    Topic,
)
from tests.fakes.bot_api_people import People
from tests.fakes.bot_api_state import BotState, Json
from tests.fakes.bot_api_updates import Updates

_TOPIC_COLOUR = 0x6FB9F0


class Groups:
    """Acts on groups; `by` is who does it. A group's id is the answer of what makes one."""

    def __init__(self, state: BotState, directory: Directory, updates: Updates, people: People) -> None:
        self._state = state
        self._directory = directory
        self._updates = updates
        self._people = people
        self._numbers = itertools.count(4_001_001)

    def found(
        self,
        title: str,
        members: Sequence[int] = (),
        *,
        creator: int = OWNER,
        kind: GroupType = "supergroup",
        forum: bool = False,
        with_bot: bool = True,
    ) -> int:
        """A group of `creator` and `members`; the bot is added after them, unless it is not to be.

        It sees little there unless privacy mode was switched off before or it is made an administrator.
        """
        if forum and kind == "group":
            raise ValueError("a basic group has no topics")
        number = next(self._numbers)
        chat = -number if kind == "group" else SUPERGROUPS - number
        group = Group(id=chat, type=kind, title=title, is_forum=forum)
        group.members[creator] = Member(user=creator, status="creator")
        group.members |= {user: Member(user=user) for user in members if user != creator}
        if forum:
            group.topics[GENERAL] = Topic(name="General")
        self._directory.groups[chat] = group
        if with_bot:
            self.add_bot(chat, by=creator)
        return chat

    def add_bot(self, chat: int, *, by: int = OWNER) -> None:
        self.bot_becomes(chat, "member", by=by)

    def remove_bot(self, chat: int, *, by: int = OWNER) -> None:
        """A supergroup keeps whom it removes from coming back; a basic group just removes."""
        self.bot_becomes(chat, "left" if self._directory.groups[chat].type == "group" else "kicked", by=by)

    def bot_becomes(
        self, chat: int, status: Status, *, by: int = OWNER, rights: dict[str, bool] | None = None
    ) -> None:
        """Any change of the bot's own place, my_chat_member first, then the group's word of it."""
        group, bot = self._directory.groups[chat], self._state.bot_id
        old = group.member(bot)
        new = group.members[bot] = Member(user=bot, status=status, rights=rights or {})
        self._updates.put({"my_chat_member": self._changed(group.shown(), old, new, by)})
        if new.inside and not old.inside:
            group.private = self._state.privacy
            self._service(chat, {"new_chat_members": [self._state.bot()]}, by)
        elif old.inside and not new.inside and group.type == "group" and by != bot:
            self._service(chat, {"left_chat_member": self._state.bot()}, by, to_bot=True)

    def mute_bot(self, chat: int, *, by: int = OWNER) -> None:
        """Leave the bot in a supergroup, where it may write nothing."""
        if self._directory.groups[chat].type == "group":
            raise ValueError("nobody is restricted in a basic group")
        self.bot_becomes(chat, "restricted", by=by)

    def hide_members(self, chat: int) -> None:
        """Have only administrators see who is in the group."""
        self._directory.groups[chat].hidden_members = True

    def join(self, chat: int, user: int, *, by: int | None = None) -> None:
        """`user` comes in, by a link of their own accord or brought by somebody."""
        self._becomes(chat, Member(user=user), by or user)
        self._service(chat, {"new_chat_members": [self._directory.user(user)]}, by or user)

    def leave(self, chat: int, user: int, *, by: int | None = None) -> None:
        """`user` goes, or is removed by somebody."""
        self._service(chat, {"left_chat_member": self._directory.user(user)}, by or user)
        self._becomes(chat, Member(user=user, status="kicked" if by else "left"), by or user)

    def promote(
        self,
        chat: int,
        user: int,
        *,
        by: int = OWNER,
        rights: dict[str, bool] | None = None,
        anonymous: bool = False,
        title: str = "",
    ) -> None:
        """Make `user`, who may be the bot, an administrator with `rights` beside the usual ones."""
        if user == self._state.bot_id:
            self.bot_becomes(chat, "administrator", by=by, rights=rights)
            return
        creator = self._directory.groups[chat].member(user).status == "creator"
        member = Member(
            user=user,
            status="creator" if creator else "administrator",
            rights=rights or {},
            anonymous=anonymous,
            custom_title=title,
        )
        self._becomes(chat, member, by)

    def demote(self, chat: int, user: int, *, by: int = OWNER) -> None:
        """Make an administrator a member like others."""
        if user == self._state.bot_id:
            self.bot_becomes(chat, "member", by=by)
        else:
            self._becomes(chat, Member(user=user), by)

    def rename(self, chat: int, title: str, *, by: int = OWNER) -> None:
        self._directory.groups[chat].title = title
        self._service(chat, {"new_chat_title": title}, by)

    def migrate(self, chat: int, *, by: int = OWNER, join_first: bool = True) -> int:
        """A basic group becomes a supergroup, which is a new chat with the same members; its id.

        That the bot joins the new chat is told too, that it leaves the old one never is. Nobody promises
        whether it comes before the messages that say what has happened or, without `join_first`, after them.
        """
        old = self._directory.groups[chat]
        if old.type != "group" or old.moved_to is not None:
            raise ValueError(f"{chat} is no basic group")
        moved = SUPERGROUPS - next(self._numbers)
        new = Group(id=moved, type="supergroup", title=old.title, members=dict(old.members))
        new.private = old.private
        self._directory.groups[moved] = new
        bot = self._state.bot_id
        outside = Member(user=bot, status="left")
        joined = {"my_chat_member": self._changed(new.shown(), outside, new.member(bot), by)}
        if join_first and new.member(bot).inside:
            self._updates.put(joined)
        self._service(chat, {"migrate_to_chat_id": moved}, by)
        old.moved_to = moved
        self._service(moved, {"migrate_from_chat_id": chat}, by)
        if not join_first and new.member(bot).inside:
            self._updates.put(joined)
        return moved

    def open_topic(self, chat: int, name: str, *, by: int = OWNER) -> int:
        """A new topic of a forum; its id, which is that of the message that says so."""
        group = self._directory.groups[chat]
        if not group.is_forum:
            raise ValueError(f"{chat} has no topics")
        thread = self._directory.next_message_id(chat)
        group.topics[thread] = Topic(name=name)
        content = {"forum_topic_created": {"name": name, "icon_color": _TOPIC_COLOUR}}
        return self._people.post(content, chat=chat, user=by, thread=thread, message_id=thread)

    def close_topic(self, chat: int, thread: int, *, by: int = OWNER) -> None:
        """Only who may manage topics writes in it now."""
        self._directory.groups[chat].topics[thread].closed = True
        self._people.post({"forum_topic_closed": {}}, chat=chat, user=by, thread=thread)

    def reopen_topic(self, chat: int, thread: int, *, by: int = OWNER) -> None:
        self._directory.groups[chat].topics[thread].closed = False
        self._people.post({"forum_topic_reopened": {}}, chat=chat, user=by, thread=thread)

    def block(self, user: int) -> None:
        """`user` blocks the bot in their private chat."""
        self._directory.blocked.add(user)
        self._private(user, "member", "kicked")

    def unblock(self, user: int) -> None:
        self._directory.blocked.discard(user)
        self._private(user, "kicked", "member")

    def _private(self, user: int, before: Status, after: Status) -> None:
        bot = self._state.bot_id
        old, new = Member(user=bot, status=before), Member(user=bot, status=after)
        self._updates.put({"my_chat_member": self._changed(self._directory.chat(user), old, new, user)})

    def _becomes(self, chat: int, member: Member, by: int) -> None:
        group = self._directory.groups[chat]
        old = group.member(member.user)
        group.members[member.user] = member
        if group.member(self._state.bot_id).administers:
            self._updates.put({"chat_member": self._changed(group.shown(), old, member, by)})

    def _changed(self, chat: Json, old: Member, new: Member, by: int) -> Json:
        return {
            "chat": chat,
            "from": self._directory.user(by),
            "date": self._state.seconds(),
            "old_chat_member": self._directory.member_shown(old),
            "new_chat_member": self._directory.member_shown(new),
        }

    def _service(self, chat: int, content: Json, by: int, *, to_bot: bool = False) -> None:
        """A message that the group itself writes of what `by` has done."""
        self._people.post(content, chat=chat, user=by, to_bot=to_bot)
