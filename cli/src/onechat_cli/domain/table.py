"""Columns of text, as wide as what they hold."""

import unicodedata
from collections.abc import Sequence


def table(rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> list[str]:
    """`rows` as lines with aligned columns, two spaces between them; the columns in `right` end aligned."""
    if not rows:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def fitting(line: str, columns: int) -> str:
    """`line` cut with an ellipsis where it takes more than `columns`; a Han sign or an emoji takes two."""
    taken, end = 0, 0
    for place, character in enumerate(line):
        wide = unicodedata.east_asian_width(character) in ("W", "F")
        taken += 0 if unicodedata.combining(character) else 2 if wide else 1
        if taken > columns:
            return line[:end].rstrip() + "…"
        if taken < columns:
            end = place + 1  # there is room for the ellipsis
    return line
