"""What an update says, read from Telegram's own JSON. Pure; a shape that Telegram never sends raises.

What groups make of theirs: platform/messages.py and events.py. What a message holds beside its words:
message_kinds.py; a press of a button: callbacks.py; how a message is worded for the
agent: wording.py.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from onechat_telegram.domain.callbacks import Callback, read_callback
from onechat_telegram.domain.ids import ChatId, MessageId, UserId
from onechat_telegram.domain.links import Link, links_of, with_addresses
from onechat_telegram.domain.message_kinds import Picture, kind_not_read, picture_of
from onechat_telegram.domain.utf16 import units

#: Sent as allowed_updates with every poll.
POLLED_FOR: Final = ("message", "edited_message", "callback_query", "my_chat_member")
LONG_UNITS: Final = 4000  #: a text of so many may be the first part of one that did not fit into a message

A_PICTURE: Final = "[a picture]"

# As the agent service reads them: a path such as /etc/hosts is a message. The one that has a phone number
# in it is none however it is mistyped, lest a model be told the number.
_COMMAND: Final = re.compile(r"/([A-Za-z_]+)(?:@\w+)?(?:\s|$)|/((?i:whatsapp))")
_STOP: Final = "stop"
_GROUPS: Final = frozenset({"group", "supergroup"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Whose words a message repeats or answers."""

    author: str  #: a person's, chat's or channel's name; empty where Telegram hides it
    text: str  #: empty for a forward, whose own text it is
    from_bot: bool  #: the bot's own words


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A message, with words, a picture, or something that is not read yet."""

    user: UserId
    chat: ChatId
    message: MessageId
    date: int  #: seconds since 1970, UTC
    edit_date: int | None  #: seconds since 1970 of this state of it; None for one that is not edited
    text: str  #: or the caption; empty without one
    links: tuple[Link, ...]  #: addresses that words of it stand for
    picture: Picture | None
    not_read: str  #: what it holds that is not read yet, plural: "Videos"; empty for nothing of that sort
    album: str  #: the same for all parts of an album; empty for none
    forwarded: Quote | None
    answers: Quote | None  #: what it replies to

    @property
    def is_command(self) -> bool:
        """Whether it may be a command line; somebody else's words, captions and long texts never are."""
        bare = self.forwarded is None and self.picture is None and not self.not_read
        return bare and not self.is_long and _COMMAND.match(self.text) is not None

    @property
    def stops(self) -> bool:
        """Whether it is the command that ends what is being done, which waits for no other."""
        command = _COMMAND.match(self.text) if self.is_command else None
        return command is not None and (command[1] or "").lower() == _STOP

    @property
    def is_long(self) -> bool:
        """Whether it may be the first part of a text that did not fit into one message."""
        return units(self.text) >= LONG_UNITS and self.picture is None and not self.not_read


@dataclass(frozen=True, slots=True, kw_only=True)
class InGroup:
    """Something of a group: a message, an edit of one, or who the bot is there now."""

    chat: ChatId


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedOver:
    """Anything else."""


Incoming = Written | InGroup | Callback | PassedOver


def read_update(update: Mapping[str, Any]) -> Incoming:
    """What `update` says. Raises KeyError, TypeError or ValueError for what no update looks like."""
    if "callback_query" in update:
        return read_callback(update["callback_query"])
    edited = "edited_message" in update
    message = update.get("edited_message") if edited else update.get("message", update.get("my_chat_member"))
    if message is None:
        return PassedOver()
    chat = ChatId(int(message["chat"]["id"]))
    if message["chat"]["type"] in _GROUPS:
        return InGroup(chat=chat)
    if message["chat"]["type"] != "private" or "from" not in message:
        return PassedOver()
    return _written(message, chat, edited)


def written_in(update: Mapping[str, Any]) -> Written | None:
    """The message in `update`, of whatever chat; None where there is none, or nothing of it is read."""
    edited = "edited_message" in update
    message = update.get("edited_message") if edited else update.get("message")
    if message is None or "from" not in message:
        return None
    written = _written(message, ChatId(int(message["chat"]["id"])), edited)
    return written if isinstance(written, Written) else None


def lane_of(update: object, owner: UserId | None) -> str:
    """The queue that `update` waits in. Never raises.

    Commands and buttons don't wait behind messages, /stop not behind other commands, nothing of the owner's
    behind what others write, and no member's private message behind a stranger's.
    """
    try:
        incoming = read_update(update) if isinstance(update, Mapping) else PassedOver()
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return "message"
    match incoming:
        case InGroup(chat=chat):
            return lane_of_group(chat)
        case Written() | Callback() if owner is not None and incoming.user != owner:
            return f"stranger:{incoming.user}"
        case Callback():
            return "button"
        case Written() if incoming.stops:
            return "stop"
        case Written() if incoming.is_command:
            return "command"
    return "message"


def lane_of_group(chat: ChatId) -> str:
    """The queue of what a group brings."""
    return f"group:{chat}"


def continues(before: Written, after: Written) -> bool:
    """Whether `after` may be the rest of the text `before`, which did not fit into one message.

    Telegram's apps send such parts at once; its times are whole seconds, so a second may look like two.
    """
    same = (before.chat, before.user, before.forwarded) == (after.chat, after.user, after.forwarded)
    bare = after.picture is None and not after.not_read and after.answers is None and bool(after.text)
    unedited = before.edit_date is None and after.edit_date is None
    return before.is_long and same and bare and unedited and 0 <= after.date - before.date <= 2


def _written(message: Mapping[str, Any], chat: ChatId, edited: bool) -> Written | PassedOver:
    text = _text(message)
    picture, not_read = picture_of(message), kind_not_read(message)
    if not text and picture is None and (edited or not not_read):
        return PassedOver()  # a service message; or what is not read, and was told when it came
    return Written(
        user=UserId(int(message["from"]["id"])),
        chat=chat,
        message=MessageId(int(message["message_id"])),
        date=int(message["date"]),
        edit_date=int(message["edit_date"]) if edited else None,
        text=text,
        links=_links(message),
        picture=picture,
        not_read=not_read,
        album=str(message.get("media_group_id", "")),
        forwarded=_origin(message["forward_origin"]) if "forward_origin" in message else None,
        answers=_answered(message),
    )


def _origin(origin: Mapping[str, Any]) -> Quote:
    person = origin.get("sender_user", {})
    place = origin.get("sender_chat", origin.get("chat", {}))
    author = name_of(person) or str(origin.get("sender_user_name", "")) or name_of(place)
    return Quote(author=author, text="", from_bot=False)


def _answered(message: Mapping[str, Any]) -> Quote | None:
    chosen = _readable(message.get("quote", {}))
    if "external_reply" in message:  # to a message of another chat, of which only the chosen words come
        author = _origin(message["external_reply"]["origin"]).author
        return Quote(author=author, text=chosen, from_bot=False) if chosen else None
    replied = message.get("reply_to_message")
    if replied is None:
        return None
    text = chosen or _readable(replied) or _wordless(replied)
    author = replied.get("from", {})
    return Quote(author=name_of(author), text=text, from_bot=bool(author.get("is_bot"))) if text else None


def _text(message: Mapping[str, Any]) -> str:
    return str(message.get("text", message.get("caption", "")))


def _links(message: Mapping[str, Any]) -> tuple[Link, ...]:
    return links_of(_text(message), message.get("entities", message.get("caption_entities", ())))


def _readable(message: Mapping[str, Any]) -> str:
    """The words of a message that is answered, or of what was chosen of one; empty without any."""
    return with_addresses(_text(message), _links(message))


def _wordless(replied: Mapping[str, Any]) -> str:
    """What stands for a message without words where it is answered; empty for a service message."""
    kind = kind_not_read(replied)
    return A_PICTURE if picture_of(replied) is not None else f"[{kind}]" if kind else ""


def name_of(who: Mapping[str, Any]) -> str:
    """How a person or a chat is shown; empty for an account that is gone."""
    full = f"{who.get('first_name', '')} {who.get('last_name', '')}".strip()
    return full or str(who.get("title", ""))
