"""Text of models, chats and other programs, made harmless for a terminal.

A terminal obeys control characters: they can move the cursor, change colours, set the title or the
clipboard. Here each becomes a visible sign, so that nothing but line ends and tabs gets through.
"""

import re
from typing import Final

TAB: Final = "    "
_REPLACED: Final = "\N{REPLACEMENT CHARACTER}"
# What harmless() changes and json.dumps writes as it is; in JSON all of it stands inside strings.
_RAW_IN_JSON: Final = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")  # what Python makes of bytes that are no UTF-8


def _visible() -> dict[int, str]:
    table = {code: chr(0x2400 + code) for code in range(0x20)}  # the pictures of control characters
    table[0x7F] = "\N{SYMBOL FOR DELETE}"
    table |= dict.fromkeys(range(0x80, 0xA0), _REPLACED)  # C1: some terminals obey 0x9b like ESC [
    table |= dict.fromkeys(range(0xD800, 0xE000), _REPLACED)  # a lone surrogate cannot be written out
    # Overrides of the writing direction make a line read otherwise than it is; plain marks are left.
    table |= dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], _REPLACED)
    table |= {0x2028: "\n", 0x2029: "\n", ord("\n"): "\n", ord("\t"): TAB, ord("\r"): ""}
    return table


_TABLE: Final = _visible()


def harmless(text: str) -> str:
    """`text` with line ends, tabs as spaces, and a visible sign for every other control character.

    Each character is translated by itself, so pieces of a stream give together what the whole gives.
    """
    return text.translate(_TABLE)


def one_line(text: str, width: int) -> str:
    """`text` harmless, on one line, cut with an ellipsis where it has more than `width` characters."""
    line = " ".join(harmless(text).split())
    return line if len(line) <= width else line[: max(width - 1, 0)].rstrip() + "…"


def harmless_line(text: str) -> str:
    """`text` harmless and on one line, with nothing cut."""
    return harmless(text).replace("\n", " ")


def harmless_json(document: str) -> str:
    """`document`, which json.dumps made, with whatever a terminal obeys as escapes: it means the same."""
    return _RAW_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", document)


def sendable(text: str) -> str:
    """`text` of a person as a call can carry it: typed, pasted or named bytes that are no UTF-8 replaced."""
    return _LONE_SURROGATE.sub(_REPLACED, text)
