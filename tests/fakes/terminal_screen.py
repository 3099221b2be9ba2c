"""A terminal's screen with all its scroll-back, as far as line editors steer it.

Letters are one column wide. Colours, modes and titles are read over.
"""

import re

_TOKEN = re.compile(
    r"\x1b\[(?P<arguments>[0-9;?]*)(?P<final>[@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()].|\x1b[^\[\]()]|(?P<plain>[^\x1b])"
)
_UNFINISHED = re.compile(r"\x1b(?:\[[0-9;?]*|\][^\x07]*|[()])?$")


class TerminalScreen:
    """What output fed to it shows; `text` is all of it, from the first line on."""

    def __init__(self, columns: int = 80) -> None:
        self._columns = columns
        self._rows: list[list[str]] = [[]]
        self._row = self._column = 0
        self._rest = ""

    @property
    def text(self) -> str:
        """Every line that is or was on the screen, without blanks at their ends."""
        return "\n".join("".join(row).rstrip() for row in self._rows)

    def feed(self, output: str) -> None:
        """Take what a program wrote; it may end within a sequence."""
        output = self._rest + output
        unfinished = _UNFINISHED.search(output)
        self._rest = unfinished[0] if unfinished else ""
        if unfinished:
            output = output[: unfinished.start()]
        for token in _TOKEN.finditer(output):
            if token["plain"]:
                self._plain(token["plain"])
            elif token["final"]:
                self._steer(token["arguments"], token["final"])

    def _plain(self, character: str) -> None:
        match character:
            case "\r":
                self._column = 0
            case "\n":
                self._down(1)
            case "\b":
                self._column = max(self._column - 1, 0)
            case _ if character >= " ":
                if self._column >= self._columns:
                    self._down(1)
                    self._column = 0
                row = self._rows[self._row]
                row.extend(" " * (self._column + 1 - len(row)))
                row[self._column] = character
                self._column += 1

    def _steer(self, arguments: str, final: str) -> None:
        first = arguments.split(";")[0]
        count = int(first) if first.isdigit() and int(first) else 1
        match final:
            case "A":
                self._row = max(self._row - count, 0)
            case "B":
                self._down(count)
            case "C":
                self._column = min(self._column + count, self._columns - 1)
            case "D":
                self._column = max(self._column - count, 0)
            case "G":
                self._column = count - 1
            case "K":
                del self._rows[self._row][self._column :]
            case "J":
                del self._rows[self._row][self._column :]
                del self._rows[self._row + 1 :]

    def _down(self, count: int) -> None:
        self._row += count
        while len(self._rows) <= self._row:
            self._rows.append([])
