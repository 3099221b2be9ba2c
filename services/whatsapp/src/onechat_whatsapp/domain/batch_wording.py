"""How a chat's messages are worded for the agent: one line each under one first line.

A message's line begins with its local time and its sender; whatever follows of its text is indented, so that
no text can pass for another message, and names are in quotes, so that none can pass for the user's `You`.
The zone is given; sizes are code points. That the user's number is in none of it is reading.py's work.
"""

import unicodedata
from collections.abc import Sequence
from datetime import tzinfo
from typing import Final

from onechat_whatsapp.domain.chat_ids import ChatId
from onechat_whatsapp.domain.messages import Message

YOU: Final = "You"
NAME_MAX: Final = 80
TEXT_MAX: Final = 65_536  # what WhatsApp's own programs let be typed
_INDENT: Final = "  "
_NAMELESS: Final = "somebody"


def batch_text(chat: ChatId, chat_name: str, lines: Sequence[str]) -> str:
    """A batch's text; `lines` are `line_of`'s, oldest first."""
    name = name_of(chat_name)
    first = f'[WhatsApp] "{name}" ({chat})' if name else f"[WhatsApp] ({chat})"
    return "\n".join([first, *lines])


def line_of(message: Message, zone: tzinfo) -> str:
    """`message` for the agent; the lines of its text stay lines."""
    sender = YOU if message.from_me else f'"{name_of(message.sender) or _NAMELESS}"'
    lines = _whole(_clipped(message.text, TEXT_MAX)).splitlines() or [""]
    return f"\n{_INDENT}".join(
        [f"{message.time.astimezone(zone):%Y-%m-%d %H:%M} {sender}: {lines[0]}", *lines[1:]]
    )


def name_of(text: str) -> str:
    """A name that others chose, as one that ends neither the line nor the quotes that it stands in."""
    plain = "".join(" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in text)
    return _clipped(" ".join(plain.replace('"', "'").split()), NAME_MAX)


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _whole(text: str) -> str:
    """`text` without halves of letters, which no store takes."""
    return text.encode("utf-8", "replace").decode()
