"""Tool calls as a client shows them: one line each, in its place among the answer's text.

The event of a call's end shares a commit with the next step's, so it may come behind that step's text: a turn
that goes on has its calls behind it, whether their ends have come or not.
"""

from dataclasses import dataclass, field
from typing import Final

_WELL: Final = frozenset({"", "done"})  # outcomes that need no word


@dataclass(slots=True)
class ToolCalls:
    """The calls of all turns at work; a call's key is unique in its turn."""

    _at_work: dict[tuple[str, str], str] = field(default_factory=dict)
    _printed: set[tuple[str, str]] = field(default_factory=set)  #: those whose end has not come

    @property
    def at_work(self) -> list[str]:
        """A line for each call that runs, in the order of their beginnings."""
        return list(self._at_work.values())

    def begin(self, turn: str, call: str, summary: str) -> None:
        """The call begins."""
        self._at_work[turn, call] = summary

    def end(self, turn: str, call: str, summary: str, outcome: str) -> str | None:
        """The call has ended: its line, to be printed; None when all is said."""
        key = (turn, call)
        self._at_work.pop(key, None)
        printed = key in self._printed
        self._printed.discard(key)
        if outcome in _WELL:
            return None if printed else summary
        return f"{summary} → {outcome}"

    def behind(self, turn: str) -> list[str]:
        """The turn goes on: the lines of its calls that are not printed, to be printed now."""
        keys = [key for key in self._at_work if key[0] == turn]
        self._printed.update(keys)
        return [self._at_work.pop(key) for key in keys]

    def over(self, turn: str) -> list[str]:
        """The turn is over: as `behind`, and nothing of it is awaited any more."""
        lines = self.behind(turn)
        self._printed = {key for key in self._printed if key[0] != turn}
        return lines
