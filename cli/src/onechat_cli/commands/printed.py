"""What a command writes: its answer on stdout, remarks and progress on stderr.

On a terminal whatever the answer holds is harmless; elsewhere it is as it is, for the next program.
"""

import json
import shutil
import sys
from typing import Final

from onechat_runtime.clock import Clock

from onechat_cli.domain.safe_text import harmless, harmless_json, harmless_line, one_line, sendable

_AGAIN_S: Final = 0.2  # between two states of a line of progress
_CLEAR: Final = "\r\x1b[K"


def print_text(text: str) -> None:
    """Print `text`, which may have several lines."""
    print(harmless(text) if sys.stdout.isatty() else sendable(text))


def print_lines_of(text: str) -> None:
    """Print a text whose line ends mean something: no other sign in it begins a line."""
    for line in text.split("\n"):
        print(harmless_line(line) if sys.stdout.isatty() else sendable(line))


def columns() -> int | None:
    """How many columns a table may take; None where the answer goes elsewhere than to a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_json(value: object) -> None:
    """Print `value` as one line of JSON."""
    document = json.dumps(value, ensure_ascii=False)
    print(harmless_json(document) if sys.stdout.isatty() else document)


def remark(text: str) -> None:
    """Say something beside the answer, in one line."""
    print(f"onechat: {one_line(text, 400)}", file=sys.stderr)


class Progress:
    """One line on stderr that changes, where that is a terminal; nothing elsewhere."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._shown = sys.stderr.isatty()
        self._next = clock.monotonic()
        self._dirty = False

    def say(self, text: str) -> None:
        """Show `text`, unless something was shown just now."""
        now = self._clock.monotonic()
        if self._shown and now >= self._next:
            self._next = now + _AGAIN_S
            self._dirty = True
            print(_CLEAR + one_line(text, 78), end="", file=sys.stderr, flush=True)

    def say_or_remark(self, text: str) -> None:
        """Show `text`; as a remark where nothing can be shown that changes."""
        if self._shown:
            self.say(text)
        else:
            remark(text)

    def end(self) -> None:
        """Take the line away."""
        if self._dirty:
            print(_CLEAR, end="", file=sys.stderr, flush=True)
