"""The chat's keys: Enter sends, Alt-Enter or Ctrl-J begins a new line, Alt-Y and Alt-N answer a proposal.

Ctrl-C, Ctrl-D and Ctrl-Z are those of any terminal.
"""

import time
from collections.abc import Callable
from typing import Final

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from onechat_cli.domain.typed import is_private

BURST_S: Final = 0.02  # nobody presses two keys within this


class Burst:
    """Whether a key came right behind the one before it."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._before = self._now = 0.0

    def note(self, _: object) -> None:
        """A key comes."""
        self._before, self._now = self._now, self._monotonic()

    def __bool__(self) -> bool:
        return self._now - self._before < BURST_S


def bindings(
    buffer: Buffer,
    *,
    burst: Burst,
    enter: Callable[[str], None],
    interrupt: Callable[[], None],
    leave: Callable[[], None],
    answer: Callable[[str], str],
) -> KeyBindings:
    """Key bindings for `buffer`; `enter` gets the text that is sent, with the line ends that were typed.

    `answer` gives the line that says "yes" or "no" to what is asked, or "". A key only writes it, and Enter
    sends it: what is asked may change at the very moment that the key is pressed.
    """
    keys = KeyBindings()

    def send() -> None:
        text = buffer.text
        buffer.reset(append_to_history=bool(text.strip()) and not is_private(text))
        enter(text)

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        send()

    @keys.add("c-j")
    def _(event: KeyPressEvent) -> None:
        # A program that drives the chat ends its lines with Ctrl-J, right behind the text.
        if burst and buffer.text and not buffer.text.endswith("\n"):
            send()
        else:
            buffer.newline(copy_margin=False)

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        buffer.newline(copy_margin=False)

    def write(word: str) -> None:
        line = answer(word)
        if line and not buffer.text:
            buffer.insert_text(line)

    @keys.add("escape", "y")
    def _(event: KeyPressEvent) -> None:
        write("yes")

    @keys.add("escape", "n")
    def _(event: KeyPressEvent) -> None:
        write("no")

    @keys.add("c-c")
    @keys.add("<sigint>")
    def _(event: KeyPressEvent) -> None:
        interrupt()

    @keys.add("c-d", filter=Condition(lambda: not buffer.text))
    def _(event: KeyPressEvent) -> None:
        leave()

    @keys.add("c-z")
    def _(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    return keys
