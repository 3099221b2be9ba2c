"""Columns of text, as wide as what they hold. A Han sign or an emoji takes two columns of a terminal."""

import unicodedata
from collections.abc import Sequence
from typing import Final

TEXT_MIN: Final = 20  # columns
_INDENT: Final = "    "  # of such a line


def table(rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> list[str]:
    """`rows` as lines with aligned columns, two spaces between them; the columns in `right` end aligned."""
    if not rows:
        return []
    widths = [max(map(columns_of, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            _padded(cell, width, right=column in right)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def table_with_texts(
    rows: Sequence[Sequence[str]],
    texts: Sequence[str],
    width: int | None,
    *,
    right: frozenset[int] = frozenset(),
    text_min: int = TEXT_MIN,
) -> list[str]:
    """A table whose last column is `texts`, of any length, in lines of `width` columns; row 0 is its head.

    With None each text stands whole, on one line. Where less than `text_min` columns are left beside the
    rest, each text has a line of its own.
    """
    begins = table(rows, right=right)
    taken = max(map(columns_of, begins))
    if width is not None:
        texts = [" ".join(text.split()) for text in texts]
    if width is None or width - taken - 2 >= text_min:
        lines = [f"{_padded(begin, taken)}  {text}" for begin, text in zip(begins, texts, strict=True)]
    else:
        under = zip(begins[1:], texts[1:], strict=True)
        lines = [begins[0], *(line for begin, text in under for line in (begin, _INDENT + text))]
    return lines if width is None else [fitting(line, max(width, len(_INDENT) + TEXT_MIN)) for line in lines]


def columns_of(text: str) -> int:
    """How many columns of a terminal `text` takes."""
    return sum(map(_columns, text))


def fitting(line: str, columns: int) -> str:
    """`line` cut with an ellipsis where it takes more than `columns`."""
    taken, end = 0, 0
    for place, character in enumerate(line):
        taken += _columns(character)
        if taken > columns:
            return line[:end].rstrip() + "…"
        if taken < columns:
            end = place + 1  # there is room for the ellipsis
    return line


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _padded(cell: str, width: int, *, right: bool = False) -> str:
    padding = " " * (width - columns_of(cell))
    return padding + cell if right else cell + padding
