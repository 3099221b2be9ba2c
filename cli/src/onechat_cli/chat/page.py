"""What a chat has printed: the view on which it stands, and the transcript from which its lines come.

All that a chat shows goes through here. The view on a terminal: screen.py. The lines: domain/transcript.py.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from onechat_cli.domain.transcript import Kind, Line, Transcript


class View(Protocol):
    """Where the chat is shown."""

    def show(self, lines: Sequence[Line]) -> None:
        """Print final lines, in order."""

    @property
    def shows_pictures(self) -> bool:
        """Whether it can."""

    async def draw(self, content: bytes) -> None:
        """Print a picture below what was shown; what is no picture is left out."""

    def refresh(self) -> None:
        """What still changes has changed."""

    def leave(self) -> None:
        """The user is done."""


class Page:
    """One chat's own; its transcript is empty at first."""

    def __init__(self, view: View) -> None:
        self.view: Final = view
        self.transcript: Final = Transcript()

    def show(self, lines: Sequence[Line]) -> None:
        """Print `lines`, if there are any."""
        if lines:
            self.view.show(lines)

    def remark(self, text: str) -> None:
        """Print what this client itself has to say."""
        self.show([remark(text)])


def remark(text: str) -> Line:
    """The line of this client itself that says `text`."""
    return Line(kind=Kind.REMARK, text=text, first=True)
