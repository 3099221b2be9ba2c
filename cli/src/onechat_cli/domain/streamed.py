"""One answer's text as it comes: what is complete is printed for good, the rest is shown live.

Offsets are Unicode code points of the step's whole text as the agent wrote it. Making it harmless and
colouring it is not done here.
"""

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Streamed:
    """The text of one step of one turn."""

    turn: str
    step: int
    received: str = ""
    printed: int = 0  #: code points of `received` that are printed
    gap: bool = False  #: something in the middle never came
    begun: bool = False  #: a line of it is printed

    def take(self, offset: int, text: str) -> None:
        """Add what came; what is known already is not added again, as after a reconnect."""
        if offset > len(self.received):
            self.gap = True
            return
        if not self.gap:
            self.received += text[len(self.received) - offset :]

    @property
    def live(self) -> str:
        """What came and is not printed."""
        rest = self.received[self.printed :]
        return rest if self.printed else rest.lstrip("\n")

    def complete_lines(self) -> list[str]:
        """The lines that have their end, to be printed now; leading blank ones are left out."""
        end = self.received.rfind("\n")
        return self._print_to(end + 1) if end >= self.printed else []

    def rest(self) -> list[str]:
        """All that is not printed yet, to be printed now."""
        return self._print_to(len(self.received))

    def cut_live(self, most: int) -> list[str]:
        """Of a line without end that is longer than `most`, pieces up to a space, to be printed now."""
        pieces: list[str] = []
        while len(self.received) - self.printed > most:
            space = self.received.rfind(" ", self.printed, self.printed + most)
            pieces += self._print_to(space + 1 if space > self.printed else self.printed + most)
        return pieces

    def finish(self, whole: str) -> list[str] | None:
        """What is left to print when the answer turned out to be `whole`; None when it is another text."""
        if self.gap or not whole.strip().startswith(self.received.strip()):
            return None
        start = whole.find(self.received.strip()) if self.received.strip() else 0
        begun = self.received.lstrip()
        lead = len(self.received) - len(begun)
        self.printed = max(self.printed - lead, 0)
        self.received = whole[start:].rstrip()
        return self.rest()

    def _print_to(self, end: int) -> list[str]:
        text = self.received[self.printed : end]
        self.printed = max(self.printed, end)
        if not self.begun:
            text = text.lstrip("\n")
        if not text.strip() and not self.begun:
            return []
        self.begun = True
        return text.removesuffix("\n").split("\n") if text else []
