"""What awaits the user's yes, as this client has heard of it: what is printed of it, and which one is next.

What exactly is asked is the agent service's text, shown whole. Where it is printed: transcript.py.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from onechat_cli.domain.happening import Proposed

SOURCE: Final = "proposal:"  #: of the message on how one went, which its agent gets; here its event says so
_OPEN: Final = "open"
_UNDER_WAY: Final = "approved"
_REFUSED: Final = "refused"
_ANSWER: Final = re.compile(r"/(yes|no)(?:@\w+)?\s+#?([0-9]{1,18})\s*", re.IGNORECASE)


@dataclass(slots=True)
class Awaiting:
    """Proposals that have no answer yet, and those that were answered here."""

    _open: set[int] = field(default_factory=set)
    _given: dict[int, bool] = field(default_factory=dict)  # answered here → whether its end was printed since
    _no_printed: set[int] = field(default_factory=set)  # whose refusal is printed, as the answer to a /no

    @property
    def next(self) -> int | None:
        """The one that has waited longest; None when nothing is asked."""
        return min(self._open, default=None)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._open)

    def fold(self, agent: str, proposed: Proposed, *, again: bool = False) -> str:
        """What is to be printed of a proposal as it is now; empty for what says nothing new.

        `again`: it is printed though it was heard of, since that may not have been shown.
        """
        number = proposed.number
        if proposed.state == _OPEN:
            if number in self._open and not again:
                return ""
            self._open.add(number)
            return f"proposal {number}: {proposed.text}\n/yes {number} lets it run, /no {number} refuses it."
        self._open.discard(number)
        if proposed.state == _UNDER_WAY:
            return ""
        if proposed.state == _REFUSED and number in self._no_printed:
            self._no_printed.discard(number)
            return ""
        if number in self._given:
            self._given[number] = True
        said = f"{agent}'s proposal {number} is {_STATES.get(proposed.state, proposed.state)}"
        return f"{said}:\n{proposed.outcome}" if proposed.outcome else f"{said}."

    def answered_by(self, line: str) -> None:
        """The user has given `line` here."""
        match = _ANSWER.fullmatch(line)
        if match:
            self._given[int(match[2])] = False

    def says_nothing_new(self, line: str) -> bool:
        """Whether the answer to `line` was printed already, as the end of the proposal that it names."""
        match = _ANSWER.fullmatch(line)
        if match is None:
            return False
        number = int(match[2])
        said = self._given.pop(number, False)
        if not said and match[1].lower() == "no":
            self._no_printed.add(number)
        return said


_STATES: Final = {"unknown": "interrupted: it is not known whether it ran"}
