"""A message that the user typed, and what a line with a slash is.

The same key and body are stored once by the agent service, however often they are sent.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

#: What completion offers, with what it does; the agent service answers all but /image and /quit.
COMMANDS: Final = {
    "/help": "what you can say here",
    "/stop": "end the turn at work and its subagents",
    "/stop all": "end every turn at work",
    "/proposals": "what awaits your yes; with a number, all of one",
    "/yes": "let a proposal run: /yes and its number",
    "/no": "refuse a proposal: /no and its number",
    "/whatsapp status": "how the link to WhatsApp is, and the routes",
    "/whatsapp pair": "link an account: /whatsapp pair and its number, such as +39 333 123 4567",
    "/whatsapp unlink": "end the link to WhatsApp",
    "/image": "send a picture: /image PATH, and words after it",
    "/usage": "model calls and tokens",
    "/agents": "who is there, and what each does",
    "/quit": "leave; what is at work goes on",
}
#: What /help says here beneath the agent service's answer.
HERE: Final = """\
/image PATH         send a picture; words after it go with it
/quit               leave; what is at work goes on"""
LEAVING: Final = frozenset({"/quit", "/exit"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A message of the user on its way."""

    key: str
    text: str
    time: datetime  #: aware; when it was typed, the same at every try
    images: tuple[str, ...] = ()  #: stored names of the pictures that go with it


def is_help(line: str) -> bool:
    """Whether `line` asks what can be said here."""
    return line.strip().lower() == "/help"


def is_private(line: str) -> bool:
    """Whether `line` may hold a phone number and is kept nowhere, nor in the input history."""
    return line.strip().lower().startswith("/whatsapp")


def is_command(text: str) -> bool:
    """Whether `text` is one line that begins with a slash and a letter: first tried as a command.

    So is a private one that was pasted with a line end in it, lest a number of it be told to a model.
    """
    return text.startswith("/") and text[1:2].isalpha() and ("\n" not in text or is_private(text))
