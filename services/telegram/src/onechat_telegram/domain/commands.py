"""Command lines of the private chat: which are the gateway's own, which are the agent's, and the menu."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from onechat_telegram.domain.wording import whole_letters

MENU: Final = (
    ("stop", "stop what is being done, or /stop NAME"),
    ("proposals", "what awaits your yes"),
    ("yes", "let a proposal run: /yes and its number"),
    ("no", "refuse a proposal: /no and its number"),
    ("whatsapp", "/whatsapp pair PHONE, status or unlink"),
    ("usage", "what the model calls have cost"),
    ("agents", "who is there, and what each does"),
    ("help", "all commands"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The gateway's own command, which opens a chat."""

    code: str  #: as given; empty without one


def command_of(text: str) -> Start | str:
    """What the command line `text` asks for: Start, or the line for the agent, without "@bot"."""
    name, blank, rest = whole_letters(text).partition(" ")
    bare = name.split("@", 1)[0]
    if bare.lower() == "/start":
        return Start(code=rest.strip())
    return f"{bare}{blank}{rest}"


def given_at(date: int, now: datetime) -> datetime:
    """When a command was given, as late as its `date`, whole seconds since 1970, allows.

    /stop stops what began before; the message it answers may have come in the same second.
    """
    return min(datetime.fromtimestamp(date, UTC) + timedelta(seconds=1), now)
