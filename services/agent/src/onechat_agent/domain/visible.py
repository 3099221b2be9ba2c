"""Text made visible, so that nobody says yes to what they could not see. Pure. Lengths are characters.

What a reader cannot see, or what makes others stand where they do not, becomes its code point in brackets:
control characters, marks of the writing direction, signs without width, other spaces than the plain one. How
a proposal is worded: proposal_words.py.
"""

import unicodedata
from dataclasses import dataclass
from typing import Final

CHARACTERS_MAX: Final = 3_000  #: of one argument; what is longer is shown by its head and its tail
LINES_MAX: Final = 60
_TAIL_CHARACTERS: Final = 1_000
_TAIL_LINES: Final = 20
_OPEN, _CLOSE = "\u27e8", "\u27e9"
# Letters and signs that show nothing, whatever their category says.
_BLANK: Final = frozenset({0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, 0x1D159})
_SELECTORS: Final = (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
_PICTURE: Final = "\ufe0f"  # after a sign: drawn as a picture
_MARKS_MAX: Final = 4  # on one letter; no language stacks more, and a tower covers the lines above it


def visible(line: str) -> str:
    """`line` with a code point such as \u27e8U+202E\u27e9 for each character that would not show as itself.

    The bracket that opens these is one of them, so that nothing else can look like one.
    """
    if line.isascii() and line.isprintable():
        return line
    shown: list[str] = []
    before, marks = "", 0
    for letter in line:
        category = unicodedata.category(letter)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        picture = letter == _PICTURE and before != "" and unicodedata.category(before) == "So"
        hidden = not picture and (_hides(letter, category) or marks > _MARKS_MAX)
        shown.append(f"{_OPEN}{_name(letter)}{_CLOSE}" if hidden else letter)
        before = letter
    return "".join(shown)


def _hides(letter: str, category: str) -> bool:
    code = ord(letter)
    if letter == " ":
        return False
    return (
        letter == _OPEN
        or category[0] in "CZ"
        or code in _BLANK
        or any(code in selectors for selectors in _SELECTORS)
    )


def _name(letter: str) -> str:
    return "tab" if letter == "\t" else f"U+{ord(letter):04X}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortened:
    """A text of which the middle may be missing."""

    head: str
    tail: str = ""
    left_out: int = 0  #: characters between the two


def shortened(text: str) -> Shortened:
    """`text` whole if it is short enough to be read, else its head and its tail."""
    lines = text.split("\n")
    head, tail = text, ""
    if len(lines) > LINES_MAX:
        head = "\n".join(lines[: LINES_MAX - _TAIL_LINES])
        tail = "\n".join(lines[-_TAIL_LINES:])
    elif len(text) > CHARACTERS_MAX:
        tail = text[-_TAIL_CHARACTERS:]
    if not tail and head == text:
        return Shortened(head=text)
    head, tail = head[: CHARACTERS_MAX - _TAIL_CHARACTERS], tail[-_TAIL_CHARACTERS:]
    return Shortened(head=head, tail=tail, left_out=len(text) - len(head) - len(tail))
