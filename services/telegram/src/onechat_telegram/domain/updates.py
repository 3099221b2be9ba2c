"""What an update says, read from Telegram's own JSON. Pure; a shape that Telegram never sends raises.

Only the private chat is read: what comes from groups, channels and other kinds of update is passed over. How
a message is worded for the agent: wording.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from onechat_telegram.domain.ids import ChatId, MessageId, UserId

POLLED_FOR: Final = ("message", "edited_message")  # sent as allowed_updates with every poll

_NOT_READ: Final = {
    "photo": "Photos",
    "animation": "Animations",
    "audio": "Audio files",
    "document": "Files",
    "paid_media": "Paid media",
    "sticker": "Stickers",
    "story": "Stories",
    "video": "Videos",
    "video_note": "Video messages",
    "voice": "Voice messages",
    "checklist": "Checklists",
    "contact": "Contacts",
    "dice": "Dice",
    "game": "Games",
    "poll": "Polls",
    "venue": "Places",
    "location": "Locations",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Whose words a message repeats or answers."""

    author: str  #: a person's, chat's or channel's name; empty where Telegram hides it
    text: str  #: empty for a forward, whose own text it is
    from_bot: bool  #: the bot's own words


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A text in a private chat."""

    user: UserId
    chat: ChatId
    message: MessageId
    date: int  #: seconds since 1970, UTC
    edit_date: int | None  #: seconds since 1970 of this state of it; None for one that is not edited
    text: str
    forwarded: Quote | None
    answers: Quote | None  #: what it replies to

    @property
    def is_command(self) -> bool:
        """Whether it may be a command line; somebody else's words never are."""
        return self.forwarded is None and self.text[:1] == "/" and self.text[1:2].isalpha()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRead:
    """A message in a private chat of a kind that is not read yet."""

    user: UserId
    chat: ChatId
    kind: str  #: for the user, plural: "Photos"


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedOver:
    """Anything else."""


Incoming = Written | NotRead | PassedOver


def read_update(update: Mapping[str, Any]) -> Incoming:
    """What `update` says. Raises KeyError, TypeError or ValueError for what no update looks like."""
    edited = "edited_message" in update
    message = update.get("edited_message") if edited else update.get("message")
    if message is None or message["chat"]["type"] != "private" or "from" not in message:
        return PassedOver()
    user, chat = UserId(int(message["from"]["id"])), ChatId(int(message["chat"]["id"]))
    if "text" not in message:
        kind = next((name for field, name in _NOT_READ.items() if field in message), None)
        # An edit of one was told already, when it came.
        return PassedOver() if kind is None or edited else NotRead(user=user, chat=chat, kind=kind)
    return Written(
        user=user,
        chat=chat,
        message=MessageId(int(message["message_id"])),
        date=int(message["date"]),
        edit_date=int(message["edit_date"]) if edited else None,
        text=str(message["text"]),
        forwarded=_origin(message["forward_origin"]) if "forward_origin" in message else None,
        answers=_answered(message),
    )


def lane_of(update: object, owner: UserId | None) -> str:
    """The queue that `update` waits in. Never raises.

    Commands don't wait behind messages, and nothing of the owner's behind what others write.
    """
    try:
        incoming = read_update(update) if isinstance(update, Mapping) else PassedOver()
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return "message"
    if owner is not None and not isinstance(incoming, PassedOver) and incoming.user != owner:
        return "stranger"
    return "command" if isinstance(incoming, Written) and incoming.is_command else "message"


def _origin(origin: Mapping[str, Any]) -> Quote:
    person = origin.get("sender_user", {})
    place = origin.get("sender_chat", origin.get("chat", {}))
    author = _name(person) or str(origin.get("sender_user_name", "")) or _name(place)
    return Quote(author=author, text="", from_bot=False)


def _answered(message: Mapping[str, Any]) -> Quote | None:
    replied = message.get("reply_to_message")
    if replied is None:
        return None
    chosen = message.get("quote", {}).get("text")
    text = chosen or replied.get("text") or replied.get("caption") or ""
    author = replied.get("from", {})
    return Quote(author=_name(author), text=str(text), from_bot=bool(author.get("is_bot"))) if text else None


def _name(who: Mapping[str, Any]) -> str:
    full = f"{who.get('first_name', '')} {who.get('last_name', '')}".strip()
    return full or str(who.get("title", ""))
