"""Plain words about WhatsApp: to find a chat, to send words or a picture to one. Pure.

A send that names a chat's id is made at once. One that names a person or a group is made once a search has
found a single chat of that name; which is said here, and done in brain.py.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

FIND: Final = "whatsapp_find"
SEND: Final = "whatsapp_send"

_FLAGS: Final = re.IGNORECASE | re.DOTALL
_ON: Final = r"(?:on|in|over|by)\s{1,3}whatsapp"
_FIND: Final = re.compile(
    rf"(?:find|look\s{{1,3}}up|search\s{{1,3}}for)\s{{1,3}}(\S.{{0,60}}?)\s{{1,3}}{_ON}\W*", _FLAGS
)
_SEND: Final = re.compile(
    rf"send\s{{1,3}}(?:the\s{{1,3}}message\s{{1,3}})?(\S.*)\sto\s{{1,3}}(\S[^\n]{{0,80}}?)(?:\s{{1,3}}{_ON})?[\s.!]*",
    _FLAGS,
)
_PICTURE: Final = re.compile(r"([0-9a-f]{16}\.(?:png|jpg|webp|gif))(?::\s*(.*))?", re.DOTALL)
_CHAT_ID: Final = re.compile(r"[^\s@:]+@[^\s@:]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """Words, or a picture with a caption, for whoever has this name."""

    name: str
    text: str
    image: str | None  #: a stored name

    def to(self, chat: str) -> Mapping[str, object]:
        """The arguments of its send, but for the id."""
        return {"chat": chat, "text": self.text, "image": self.image}


def chat_sought(clause: str) -> str | None:
    """The name of the chat that `clause` asks to find."""
    found = _FIND.fullmatch(clause)
    return found[1].strip("`\"'") if found else None


def write_in(clause: str) -> Write | None:
    """What `clause` asks to send; its name may be a chat's id."""
    found = _SEND.fullmatch(clause)
    if found is None:
        return None
    words = found[1].strip()
    words = words[1:-1] if len(words) > 1 and words[0] == words[-1] and words[0] in "`\"'" else words
    picture = _PICTURE.fullmatch(words)
    if picture:
        return Write(name=found[2], text=(picture[2] or "").strip(), image=picture[1])
    return Write(name=found[2], text=words, image=None)


def is_chat_id(name: str) -> bool:
    """Whether `name` is a chat's id, which needs no search."""
    return _CHAT_ID.fullmatch(name) is not None


def only_chat(rows: str, name: str) -> str | None:
    """The id of the only chat that a search gave, or of the only one with just that name; else None."""
    cells = [[cell.strip() for cell in row.split(" | ")] for row in rows.splitlines()]
    chats = [row for row in cells if len(row) == 3 and is_chat_id(row[0])]
    exact = [row for row in chats if row[1].casefold() == name.casefold()]
    best = chats if len(chats) == 1 else exact
    return best[0][0] if len(best) == 1 else None
