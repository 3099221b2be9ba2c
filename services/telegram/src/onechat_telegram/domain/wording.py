"""How a message of the owner is worded for the agent, and what the gateway itself says to people.

Other people's words stand under a line that names them, each line marked `| `: only unmarked lines are the
user's.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Final

from onechat_telegram.domain.links import with_addresses
from onechat_telegram.domain.updates import Quote, Written
from onechat_telegram.domain.utf16 import units

PART_UNITS: Final = 4096  # of a message; what is longer comes in several
QUOTED_MAX: Final = 1000  # letters of what a message replies to; the agent remembers the rest itself

REPEAT_MARK: Final = "\n(perhaps a repeat)"
WELCOME: Final = "This chat is yours now. Write anything; /help shows the commands."
ALREADY_YOURS: Final = "This is your chat. Write anything; /help shows the commands."
NOT_FOR_YOU: Final = "Sorry, this is a private bot: it answers its owner only."
NO_OWNER_YET: Final = (
    "This bot has no owner yet. Send /start CODE with the code that `onechat status` shows on its machine."
)
PICTURE_TOO_LARGE: Final = "A picture is larger than 20 MB and was not read: please send it smaller."
PICTURE_UNKNOWN: Final = "A picture was not read: only PNG, JPEG, WebP and GIF of up to 20 MB are."
PICTURE_NOT_FETCHED: Final = "A picture could not be fetched from Telegram: please send it again."
MISSED: Final = "Some older replies are no longer kept and cannot be shown here."
ANOTHER_STORE: Final = "The agent's store is another one now: what it said before now is not shown here."


def for_agent(parts: Sequence[Written], unread_pictures: int = 0) -> str:
    """The text that the agent gets for `parts`, which are one message; empty where there is nothing to say.

    `unread_pictures` of them could not be read.
    """
    first = parts[0]
    blocks = []
    if first.edit_date is not None:
        sent = datetime.fromtimestamp(first.date, UTC)
        blocks.append(f"[edited; replaces {_replaced(first)} on {sent:%Y-%m-%d at %H:%M:%S} UTC]")
    if first.answers is not None:
        blocks.append(_answering(first.answers))
    for author, said in groupby(parts, key=lambda part: part.forwarded):
        blocks += _said(author, list(said))
    missing = [*kinds_not_read(parts), *(["a picture"] * unread_pictures)]
    if missing:
        blocks.append(not_seen(missing))
    return "\n".join(blocks)


def seams(texts: Sequence[str]) -> list[str]:
    """What stands before each of `texts` when they are made one.

    A part that had no room for the next letter was cut there; any other at a blank, which Telegram drops.
    """
    found, before = [], ""
    for text in texts:
        cut_within = bool(text) and units(before) + units(text[0]) > PART_UNITS
        found.append("\n" if text and before and not cut_within else "")
        before = text or before
    return found


def not_read(parts: Sequence[Written]) -> str:
    """What is said of what in `parts` is not read yet, a line for each kind; empty where all is read."""
    with_words = any(part.text or part.picture for part in parts)
    ending = "only what came with them is" if with_words else "please write it as text"
    return "\n".join(f"{kind} are not read yet: {ending}." for kind in kinds_not_read(parts))


def kinds_not_read(parts: Iterable[Written]) -> list[str]:
    """What in `parts` is not read yet, each kind once."""
    return list(dict.fromkeys(part.not_read for part in parts if part.not_read))


def not_seen(kinds: Sequence[str]) -> str:
    """What the agent is told of what came with a message and cannot be shown to it."""
    return f"[sent with it, but not to be seen here: {', '.join(kinds)}]"


def whole_letters(text: str) -> str:
    """`text` with halves of letters joined where they belong together, else replaced; JSON may hold such."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def marked(text: str) -> str:
    """`text` as somebody else's: a mark before every line, whatever ends a line."""
    return "\n".join(f"| {line}" for line in text.splitlines())


def one_line(text: str) -> str:
    """`text` with whatever ends a line turned into blanks."""
    return " ".join(whole_letters(text).split())


def _replaced(edit: Written) -> str:
    """What an edited message was, whose other parts Telegram does not tell again."""
    if edit.album:
        return "a part of what I sent"
    return "all or the first part of what I wrote" if edit.is_long else "what I wrote"


def _said(author: Quote | None, parts: Sequence[Written]) -> list[str]:
    """The words of `parts`, which all have the same author; the owner where that is None."""
    before = seams([part.text for part in parts])
    shown = [with_addresses(part.text, part.links) for part in parts]
    text = whole_letters("".join(map("".join, zip(before, shown, strict=True))))
    if author is None:
        return [text] if text else []
    by = one_line(author.author)
    if not text:
        return [f"Forwarded without words{', sent by ' + by if by else ''}."]
    return [f"Forwarded{', written by ' + by if by else ''}:\n{marked(text)}"]


def _answering(quote: Quote) -> str:
    whole = whole_letters(quote.text)
    shown = whole if len(whole) <= QUOTED_MAX else whole[:QUOTED_MAX] + "…"
    whose = "you" if quote.from_bot else one_line(quote.author) or "somebody"
    return f"In reply to what {whose} wrote:\n{marked(shown)}"
