"""Finding chats by a part of their name, whatever its case and accents. Pure.

Where the names come from: directory.py.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

FOUND_MAX: Final = 20  # chats of one page
NAME_MAX: Final = 100  #: characters of a name that is shown; WhatsApp's own group subjects have up to 100
_DIGITS_MIN: Final = 7  # of a number that is looked for as such; shorter ones stand in many
_FOLDS_KEPT: Final = 20_000  # the same names are looked through again and again

# Letters that have no decomposition in Unicode, though people who type without accents leave the stroke out.
_STROKES: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"}
)
_SELECTORS: Final = "\ufe0e\ufe0f"  # choose between a sign's two pictures
_NUMBER: Final = re.compile(r"[+\d\s().\-]+")


class ChatKind(StrEnum):
    """What a chat is."""

    CONTACT = "contact"
    GROUP = "group"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedChat:
    """A chat that can be found."""

    id: str  #: as it is shown and taken back
    names: tuple[str, ...]  #: as they are shown; the first is the one it goes by, none is empty
    kind: ChatKind

    @property
    def name(self) -> str:
        """What it goes by; its id where it has no name."""
        return self.names[0] if self.names else self.id


def found(chats: Iterable[NamedChat], asked: str) -> list[NamedChat]:
    """The chats one of whose names holds `asked`, or whose id or number it is; the likeliest first.

    First whose name it is, then in whose name a word begins with it, then the rest; each by name. A chat that
    was found by another name than it goes by has that one behind it in brackets.
    """
    wanted, id_wanted, number = folded(asked), asked.strip(), _number(asked)
    ranked: list[tuple[int, str, str, NamedChat]] = []
    for chat in chats:
        if chat.id == id_wanted or (number and chat.id.partition("@")[0] == number):
            ranked.append((_ITSELF, "", chat.id, chat))
        elif (best := _best(chat.names, wanted)) is not None:
            rank, name = best
            ranked.append((rank, folded(chat.name), chat.id, _with(chat, name)))
    return [chat for _, _, _, chat in sorted(ranked, key=lambda each: each[:3])]


_ITSELF, _WHOLE, _BEGINS_A_WORD, _WITHIN = range(4)


def _best(names: Iterable[str], wanted: str) -> tuple[int, str] | None:
    """How well `wanted` stands in the name that holds it best, and that name; None where none holds it."""
    best: tuple[int, str] | None = None
    for name in names:
        there = folded(name)
        if wanted in there:
            rank = _WHOLE if there == wanted else _BEGINS_A_WORD if f" {wanted}" in f" {there}" else _WITHIN
            if best is None or rank < best[0]:
                best = rank, name
    return best


def _with(chat: NamedChat, name: str) -> NamedChat:
    """`chat`, going by its name and the one that it was found by."""
    if folded(name) in folded(chat.name):
        return chat
    return NamedChat(id=chat.id, names=(f"{chat.name} ({name})",), kind=chat.kind)


@lru_cache(maxsize=_FOLDS_KEPT)
def folded(text: str) -> str:
    """`text` without case, accents, strokes, signs that show nothing, and surplus spaces."""
    if text.isascii():
        return " ".join(text.casefold().split())
    caseless = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    kept = (
        character
        for character in caseless.translate(_STROKES)
        if not unicodedata.combining(character)
        and character not in _SELECTORS
        and unicodedata.category(character) != "Cf"
    )
    return " ".join(unicodedata.normalize("NFC", "".join(kept)).split())


def shown_name(name: str) -> str:
    """`name` as one line that can do no harm in a list: others choose it.

    Without line ends, control signs and signs that turn the direction of what follows.
    """
    kept = (
        " " if character.isspace() else character
        for character in name
        if character.isspace() or unicodedata.category(character) not in _CONTROLS
        if character not in _TURNING
    )
    line = " ".join("".join(kept).split())
    return line if len(line) <= NAME_MAX else f"{line[: NAME_MAX - 1]}…"


_CONTROLS: Final = frozenset({"Cc", "Cs"})
_TURNING: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _number(asked: str) -> str:
    """The digits of `asked` where it is a phone number and nothing else; else ""."""
    digits = "".join(character for character in asked if character.isdecimal())
    return digits if _NUMBER.fullmatch(asked) and len(digits) >= _DIGITS_MIN else ""
