"""What befalls a group, read from Telegram's own JSON. Pure; a shape that Telegram never sends raises.

The words of a message: messages.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from onechat_telegram.domain.ids import BotId, ChatId, UserId
from onechat_telegram.domain.updates import name_of, written_in
from onechat_telegram.domain.wording import whole_letters
from onechat_telegram.groups.domain import ids
from onechat_telegram.groups.domain.messages import Member

GENERAL_TOPIC: Final = 1  # a forum's first topic, which is no thread of its own
_INSIDE: Final = frozenset({"creator", "administrator", "member"})


@dataclass(frozen=True, slots=True, kw_only=True)
class BotJoined:
    """The bot is in a group in which it was not before."""

    chat: ChatId
    title: str
    by: UserId
    name: str  #: of who did it
    mark: str  #: tells this time from any other


@dataclass(frozen=True, slots=True, kw_only=True)
class BotGone:
    """The bot is no longer in a group."""

    chat: ChatId


@dataclass(frozen=True, slots=True, kw_only=True)
class BecameSupergroup:
    """A basic group is a supergroup now, which is a chat of another number."""

    old: ChatId
    new: ChatId


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A message, or an edit of one, in a group or in private."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingHeard:
    """Anything else."""


GroupEvent = BotJoined | BotGone | BecameSupergroup | Words | NothingHeard


def read_event(update: Mapping[str, Any]) -> GroupEvent:
    """What `update` says of a group, or that it is somebody's message."""
    if "my_chat_member" in update:
        return _standing(update["my_chat_member"], int(update.get("update_id", 0)))
    message = update.get("message", {})
    if "migrate_to_chat_id" in message:
        return _moved(message["chat"]["id"], message["migrate_to_chat_id"])
    if "migrate_from_chat_id" in message:
        return _moved(message["migrate_from_chat_id"], message["chat"]["id"])
    return NothingHeard() if written_in(update) is None else Words()


def basic_group_of(update: Mapping[str, Any]) -> ChatId | None:
    """The basic group that `update` is of, which may become a supergroup; None for any other chat."""
    chat = _about(update)["chat"]
    return ChatId(int(chat["id"])) if chat["type"] == "group" else None


def place_in_forum(update: Mapping[str, Any]) -> tuple[ChatId, int] | None:
    """The chat and the topic that the message in `update` is in; None outside topics, and in General."""
    message = _about(update)
    thread = message.get("message_thread_id")
    if thread is None or not message.get("is_topic_message") or int(thread) == GENERAL_TOPIC:
        return None
    return ChatId(int(message["chat"]["id"])), int(thread)


def topic_of(update: Mapping[str, Any]) -> tuple[ChatId, int, str] | None:
    """A topic that `update` names: its chat, its thread, and its name. None where it names none.

    The first messages of a topic come as answers to its creation, which names it.
    """
    message, place = _about(update), place_in_forum(update)
    created = message.get("reply_to_message", {}).get("forum_topic_created", {})
    named = message.get("forum_topic_created", message.get("forum_topic_edited", created))
    name = whole_letters(str(named.get("name", "")))
    return None if place is None or not name else (*place, name)


def key_of_joining(bot: BotId, joined: BotJoined) -> ids.MessageKey:
    """The key of the bot's joining; the same update always gives the same."""
    return ids.MessageKey(f"telegram:{bot}:{joined.chat}:joined:{joined.mark}")


def who_joined(joined: BotJoined) -> Member:
    """Who has put the bot into the group."""
    return Member(id=ids.MemberId(str(joined.by)), name=joined.name)


def _standing(change: Mapping[str, Any], number: int) -> GroupEvent:
    """A change of the bot's own place in a group. What it may do there does not matter."""
    chat = ChatId(int(change["chat"]["id"]))
    was, is_now = _inside(change["old_chat_member"]), _inside(change["new_chat_member"])
    if was == is_now or change["chat"]["type"] not in {"group", "supergroup"}:
        return NothingHeard()
    if not is_now:
        return BotGone(chat=chat)
    return BotJoined(
        chat=chat,
        title=whole_letters(str(change["chat"].get("title", ""))),
        by=UserId(int(change["from"]["id"])),
        name=whole_letters(name_of(change["from"])),
        # Twice within a second is possible; the update's number alone begins anew after a quiet week.
        mark=f"{int(change['date'])}:{number}",
    )


def _inside(member: Mapping[str, Any]) -> bool:
    return member["status"] in _INSIDE or (member["status"] == "restricted" and bool(member.get("is_member")))


def _moved(old: object, new: object) -> BecameSupergroup:
    return BecameSupergroup(old=ChatId(int(str(old))), new=ChatId(int(str(new))))


def _about(update: Mapping[str, Any]) -> Mapping[str, Any]:
    """What of `update` names its chat."""
    for kind in ("message", "edited_message", "my_chat_member"):
        if kind in update:
            found: Mapping[str, Any] = update[kind]
            return found
    raise KeyError("an update of no chat")
