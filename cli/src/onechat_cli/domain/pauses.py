"""How long to wait before the next try, in seconds: twice the pause before, up to a longest. Pure."""

from dataclasses import dataclass
from typing import Final

FIRST_S: Final = 0.3
LONGEST_S: Final = 5.0


@dataclass(slots=True)
class Pauses:
    """The pauses between tries of one thing."""

    _next_s: float = FIRST_S

    def next_s(self) -> float:
        """The pause to make now; the one after it is longer."""
        pause_s, self._next_s = self._next_s, min(self._next_s * 2, LONGEST_S)
        return pause_s

    def start_over(self) -> None:
        """A try has succeeded: the next pause is the first."""
        self._next_s = FIRST_S
