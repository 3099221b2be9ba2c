"""How the link to Telegram is, and what a person can do about it."""

from enum import StrEnum
from typing import Final


class LinkState(StrEnum):
    """Named as in the contract."""

    NO_TOKEN = "no_token"  # noqa: S105 - a state's name
    CONNECTING = "connecting"
    CONNECTED = "connected"
    UNREACHABLE = "unreachable"
    TOKEN_REFUSED = "token_refused"  # noqa: S105 - a state's name
    OTHER_POLLER = "other_poller"


SENTENCES: Final = {
    LinkState.UNREACHABLE: "Telegram cannot be reached; it is tried again by itself. Look at the network.",
    LinkState.TOKEN_REFUSED: (
        "Telegram refuses the bot's token: get the right one from @BotFather, set TELEGRAM_TOKEN, and start"
        " the telegram service again."
    ),
    LinkState.OTHER_POLLER: (
        "Another program takes this bot's messages: stop it, or make a bot of its own for onechat with"
        " @BotFather. It is tried again by itself."
    ),
}
CHAT_CLOSED: Final = (
    "The owner's chat with the bot is closed, so replies wait: open it in Telegram, unblock the bot there, or"
    " press Start."
)
