"""How a call of the Bot API can go wrong, and what each way means for trying again.

Their texts never hold the bot's token. Which errors of python-telegram-bot they are: adapters/bot_api.py.
"""

from typing import Final

from onechat_telegram.domain.ids import ChatId

FIRST_DELAY_S: Final = 1.0
LONGEST_DELAY_S: Final = 60.0


class BotApiError(Exception):
    """Any of them; tried again after a growing delay unless its class says otherwise."""


class NotReached(BotApiError):
    """The call certainly had no effect: no connection, or a failure of Telegram's servers."""


class OutcomeUnknown(BotApiError):
    """The call was sent and no answer came: it may have had its effect."""


class TooManyCalls(BotApiError):
    """429: to be tried again after the time that Telegram names."""

    def __init__(self, text: str, *, retry_after_s: float) -> None:
        super().__init__(text)
        self.retry_after_s = retry_after_s


class Refused(BotApiError):
    """400: the same call will always fail."""


class FileTooLarge(BotApiError):
    """A file that has more bytes than are fetched."""


class ChatClosed(BotApiError):
    """The user has blocked the bot, or never opened the chat with it."""


class ChatMoved(BotApiError):
    """400: the group is a supergroup now, of another number; the call had no effect."""

    def __init__(self, text: str, *, chat: ChatId) -> None:
        super().__init__(text)
        self.chat = chat  #: its number now


class TokenRefused(BotApiError):
    """401: the token is no bot's."""


class OtherPoller(BotApiError):
    """409: another program takes the bot's updates."""


def delay_after(failures: int, error: BotApiError, spread: float) -> float:
    """Seconds until the next try after `failures` in a row, at least one; `spread` is near 1, by chance."""
    if isinstance(error, TooManyCalls):
        return max(FIRST_DELAY_S, error.retry_after_s)  # which may be 0: no try must follow at once
    growing: float = min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** min(failures - 1, 10))
    return growing * spread
