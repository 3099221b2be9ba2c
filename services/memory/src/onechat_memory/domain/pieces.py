"""How a text that is too long for one message becomes several in a row. Pure; nothing is ever left out.

Sizes here are characters (Unicode code points), as a page and a tool's output are measured.
"""

from __future__ import annotations

from onechat_memory.domain.text import belongs_together, cut_place

PIECE_MAX = 30_000  #: characters in one message
_LOOKS_MAX = 64  #: a piece's end with more line ends or spaces that carry combining marks is no writing


def pieces(text: str, most: int = PIECE_MAX) -> list[str]:
    """`text` in pieces of at most `most` characters that give it back when joined; at least one piece.

    A cut falls behind a line's end in the last fifth of a piece, else behind a space there, else where no
    combining sequence is parted.
    """
    parts: list[str] = []
    start = 0
    while len(text) - start > most:
        end = _cut(text, start, most)
        parts.append(text[start:end])
        start = end
    parts.append(text[start:])
    return parts


def _cut(text: str, start: int, most: int) -> int:
    """Where the piece that begins at `start` ends."""
    end = start + most
    last_fifth = end - most // 5
    for mark in ("\n", " "):
        found = end
        for _ in range(_LOOKS_MAX):
            found = text.rfind(mark, last_fifth, found)
            if found < 0:
                break
            if not belongs_together(text, found + 1):  # a space can carry a combining mark
                return found + 1
    return max(cut_place(text, end), start + 1)
