"""Ids of Telegram's things, and the keys made of them. Built and parsed here alone."""

from dataclasses import dataclass
from typing import NewType

BotId = NewType("BotId", int)  # the number before the token's colon
UserId = NewType("UserId", int)
ChatId = NewType("ChatId", int)  # of a private chat: its user's id
MessageId = NewType("MessageId", int)  # within its chat
FileId = NewType("FileId", str)  # of one bot; names the same file as long as Telegram keeps it
DeliveryKey = NewType("DeliveryKey", str)


@dataclass(frozen=True, slots=True, kw_only=True)
class BotProfile:
    """Who a bot is on Telegram."""

    bot: BotId
    user_name: str  #: without "@"
    name: str  #: as it is shown
    hears_all: bool  #: whether privacy mode is off: it hears all of a group to which it is added then


def bot_of_token(token: str) -> BotId | None:
    """Whose token it is; None for what is no bot's token."""
    number, colon, rest = token.partition(":")
    shaped = number.isascii() and number.isdigit() and bool(colon) and rest.isascii() and rest.isprintable()
    if not shaped or not rest or len(number) > 18 or set(rest) & set(" /?#%"):
        return None
    return BotId(int(number))


def private_chat_of(user: UserId) -> ChatId:
    """The private chat with `user`: Telegram gives it the user's number."""
    return ChatId(user)


def key_for_message(
    bot: BotId, chat: ChatId, message: MessageId, edit_date: int | None = None
) -> DeliveryKey:
    """The key of a message, or of one state of an edited one; the same always gives the same.

    Not made of the update's id: those begin anywhere after a quiet week.
    """
    edit = "" if edit_date is None else f":{edit_date}"
    return DeliveryKey(f"telegram:{bot}:{chat}:{message}{edit}")


def key_for_press(bot: BotId, press: str) -> str:
    """The request id of the answer that a press of a button gives; `press` is Telegram's id of it."""
    return f"telegram:{bot}:press:{press}"


def key_for_update(bot: BotId, update: int, taken_us: int, place: int) -> str:
    """The inbox's own key of an update: `place` in the answer that was taken at `taken_us`."""
    return f"{bot}:{update}:{taken_us}:{place}"


def bot_of_update_key(key: str) -> BotId:
    """The bot whose update `key_for_update` named."""
    return BotId(int(key.split(":", 1)[0]))
