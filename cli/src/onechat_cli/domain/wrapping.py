"""Long lines broken at spaces, by the columns that a terminal gives each character."""

from collections.abc import Callable


def wrapped(line: str, columns: int, width: Callable[[str], int]) -> list[str]:
    """`line` as rows of at most `columns`; a word that is wider than a row is broken.

    `width` says how many columns a text takes. The spaces at which a line is broken are left out.
    """
    if width(line) <= columns or columns < 2:
        return [line]
    rows: list[str] = []
    row, taken, space = "", 0, -1
    for character in line:
        needs = width(character)
        if taken + needs > columns:
            if character == " ":
                rows.append(row)
                row, taken, space = "", 0, -1
                continue
            if space > 0 and row[:space].strip():
                rows.append(row[:space])
                row = row[space + 1 :]
            else:
                rows.append(row)
                row = ""
            taken, space = width(row), row.rfind(" ")
        if character == " ":
            space = len(row)
        row += character
        taken += needs
    return [*rows, row]
