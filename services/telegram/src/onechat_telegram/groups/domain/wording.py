"""How a group's messages are worded for its agent, and what the gateway itself says to people.

One message is one line that begins with its local time, its sender's id and name; whatever follows of it is
indented, so that no text can pass for another member's message. Zones are given; sizes are code points.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Final

from onechat_telegram.groups.domain.ids import MemberId
from onechat_telegram.groups.domain.messages import TEXT_MAX, Member, Message, Quote
from onechat_telegram.groups.domain.privates import Candidate

NAME_MAX: Final = 80
QUOTE_MAX: Final = 300  # of what a message replies to; the agent remembers the rest itself
LINE_MAX: Final = 500  # of what a detector sees of an earlier message
_INDENT: Final = "  "

REFUSED: Final = "Only administrators of this group can do that."
USAGE: Final = "Write /bot status or /bot clear-memory."
PRIVATE_USAGE: Final = "Write /bot status, /bot clear-memory or /bot group."
CONFIRM: Final = (
    "This sets the memory of this group aside and begins a fresh one. To do it, send"
    " /bot clear-memory yes within 5 minutes."
)
NOTHING_TO_CONFIRM: Final = "There is nothing to confirm: send /bot clear-memory first."
CLEARED: Final = "The memory of this group was set aside as {kept}, and a fresh one has begun."
NO_AGENT: Final = "The agent of this group is gone. The one who runs me can admit the group again."
WHICH: Final = "You are in several groups with me. Which one do you mean? Send its number:"
NOT_KEPT: Final = "Choose first, please: too much waits already, and your last message was not kept."
CHOSEN: Final = 'We speak of "{title}" here from now on. /bot group asks again.'
ONLY_ONE: Final = 'We speak of "{title}" here: it is the only group that we share.'
ADDED_BY_OTHERS: Final = (
    'I was added to the group "{title}" by {name} and left it. To have me there, add me yourself.'
)
NOT_ADMITTED: Final = (
    'I was in the group "{title}", which you have not admitted, and left it.'
    " To have me there, add me yourself."
)
MORE_LEFT: Final = (
    "I am put into one group after another that you have not admitted. I leave each of them, and tell you of"
    " no more within this hour."
)


def within_bounds(message: Message) -> Message:
    """`message` with no more text than is taken."""
    if len(message.text) <= TEXT_MAX:
        return message
    return replace(message, text=_clipped(message.text, TEXT_MAX))


def heading(channel: str, title: str, chat: str) -> str:
    """The first line of a batch."""
    return f'[{channel.capitalize()}] "{name_of(title)}" ({chat})'


def line_of(message: Message, zone: tzinfo, bot: MemberId) -> str:
    """`message` for the agent, whose own words `bot` wrote."""
    said = [f"{message.time.astimezone(zone):%Y-%m-%d %H:%M} {_who(message.sender)}"]
    if message.thread_title or message.place.thread:
        said.append(f'in the thread "{name_of(message.thread_title or message.place.thread)}"')
    if message.edited:
        said.append("edited")
    if message.forwarded_from is not None:
        whose = message.forwarded_from.strip()
        said.append(f'forwarded from "{name_of(whose)}"' if whose else "forwarded")
    quoted: list[str] = []
    if message.answers is not None:
        author = message.answers.author
        said.append(f"in reply to {'you' if author.id == bot else _who(author)}")
        quoted = [f"> {line}" for line in _quoted(message.answers).splitlines()]
    lines = _lines(message.text) or ["(an image)" if message.images else ""]
    if quoted:
        return f"\n{_INDENT}".join([", ".join(said) + ":", *quoted, *lines])
    return f"\n{_INDENT}".join([f"{', '.join(said)}: {lines[0]}", *lines[1:]])


def line_for_detector(message: Message) -> str:
    """`message` as one of those before; short."""
    return _clipped(f"{name_of(message.sender.name)}: {' '.join(_whole(message.text).split())}", LINE_MAX)


def own_line(text: str) -> str:
    """The bot's own words as one of the messages before."""
    return _clipped(f"you: {' '.join(_whole(text).split())}", LINE_MAX)


def status(
    agent: str, messages: int, detector: str, last_turn: datetime | None, zone: tzinfo, limits: str
) -> str:
    """What /bot status answers; `limits` says what the bot cannot hear, a sentence, or nothing."""
    turn = "none yet" if last_turn is None else f"{last_turn.astimezone(zone):%Y-%m-%d %H:%M}"
    lines = [f"Agent: {agent}", f"Messages: {messages}", f"Detector: {detector}", f"Last turn: {turn}"]
    return "\n".join([*lines, limits] if limits else lines)


def which(groups: Sequence[Candidate]) -> str:
    """The question which of `groups` is meant."""
    offers = [f"{number}  {name_of(group.title)}" for number, group in enumerate(groups, 1)]
    return "\n".join([WHICH, *offers])


def name_of(text: str) -> str:
    """A name that others chose, as one that ends neither the line nor the quotes that it stands in."""
    plain = "".join(" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in text)
    return _clipped(" ".join(plain.replace('"', "'").split()), NAME_MAX) or "somebody"


def _who(member: Member) -> str:
    return f'{member.id} "{name_of(member.name)}"'


def _quoted(quote: Quote) -> str:
    return "\n".join(_lines(_clipped(quote.text, QUOTE_MAX)))


def _lines(text: str) -> list[str]:
    return _whole(text).splitlines()


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _whole(text: str) -> str:
    """`text` without halves of letters, which no store takes."""
    return text.encode("utf-8", "replace").decode()
