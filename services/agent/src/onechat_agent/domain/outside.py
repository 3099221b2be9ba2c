"""Text that somebody other than the user wrote, marked so that it cannot be taken for the user's.

Every line of it gets a mark, since one at the beginning and one at the end could be closed from inside. Only
the first line, which is onechat's own, has none. Who decides what such text may lead to: consent.py.
"""

import re
import unicodedata
from typing import Final

MARK: Final = "| "
PRIVATE: Final = ", in private, not to be repeated in the group"
NAME_MAX: Final = 80  # characters of a sender's name or a source in the first line
_SERVICES: Final = {"whatsapp": "WhatsApp", "telegram": "Telegram"}
_IMAGE: Final = re.compile(r"\[(\s*image\b[^\[\]]*)(\]?)", re.IGNORECASE)


def marked(text: str, *, source: str, sender: str = "", private: bool = False) -> str:
    """`text` with a mark before every line, under a first line that names `source` and `sender`.

    `source` is as deliveries have it, such as `whatsapp:ID`; `sender` is a name that others chose, or "".
    `private`: a group's agent was told it by one member alone, and the first line says so.
    """
    return f"{_heading(source, sender, private)}\n{marked_lines(text)}"


def marked_lines(text: str) -> str:
    """`text` with a mark before every line, for a first line of onechat's own to stand above."""
    return "\n".join(f"{MARK}{_harmless(line)}" for line in text.splitlines()) or MARK


def _heading(source: str, sender: str, private: bool) -> str:
    service = source.partition(":")[0]
    written = f', written by "{as_name(sender)}"' if as_name(sender) else ""
    kept = PRIVATE if private else ""
    return f"[{_SERVICES.get(service, 'Outside')}] {as_name(source)}{written}{kept}:"


def _harmless(line: str) -> str:
    """`line` without anything that stands for a stored picture: brackets become parentheses."""
    return _IMAGE.sub(lambda found: f"({found[1]}{')' if found[2] else ''}", line)


def as_name(text: str) -> str:
    """`text` as a name within the one line that has no mark: nothing in it ends the line or the quotes."""
    plain = "".join(" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in text)
    flat = " ".join(plain.replace('"', "'").replace("[", "(").replace("]", ")").split())
    return flat if len(flat) <= NAME_MAX else f"{flat[: NAME_MAX - 1]}…"
