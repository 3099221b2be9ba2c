"""What a turn may cost, and when it goes in circles. Pure.

Sizes are UTF-8 bytes, tokens are the model's. What happens at a limit: turn_steps.py.
"""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

REPEATS_TOLD = 3  #: the same call with the same result: told to the model
REPEATS_ENDED = 5  #: and the turn is ended
MALFORMED_ENDED = 5  #: calls in a row whose arguments fit no schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """agent.toml's [limits]; far off, so that only what went wrong meets them."""

    calls: int = 200  #: model calls a turn
    minutes: int = 60  #: a turn's time at work
    output_tokens: int = 16_000  #: a model call
    tokens_per_day: int = 5_000_000  #: of the user's day, input and output
    context_bytes: int = 400_000  #: what a call holds after the view

    @property
    def deliveries_bytes(self) -> int:
        """How many bytes of deliveries a turn shows whole."""
        return self.context_bytes // 4


class Repeat(StrEnum):
    """What a call's result means for the turn."""

    FINE = "fine"
    TELL = "tell"  #: tell the model that it repeats itself
    END = "end"


@dataclass(slots=True)
class Circles:
    """Counts a turn's repetitions; belongs to one turn, and is filled from its log when that is resumed."""

    ended: bool = False  #: whether it has gone in circles for so long that it ends
    _same: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    _malformed: int = 0

    def after(self, name: str, arguments: str, result: str, *, malformed: bool) -> Repeat:
        """Takes note of a finished call."""
        repeat = self._noted(name, arguments, result, malformed=malformed)
        self.ended = self.ended or repeat is Repeat.END
        return repeat

    def _noted(self, name: str, arguments: str, result: str, *, malformed: bool) -> Repeat:
        self._malformed = self._malformed + 1 if malformed else 0
        if self._malformed >= MALFORMED_ENDED:
            return Repeat.END
        self._same[name, arguments, result] += 1
        times = self._same[name, arguments, result]
        if times >= REPEATS_ENDED:
            return Repeat.END
        return Repeat.TELL if times >= REPEATS_TOLD else Repeat.FINE
