"""What lines cost in model calls, as the workers say it. Pure.

Who counts it where: adapters/cost_store.py. Tokens and money are the agent service's, which makes the calls.
"""

from __future__ import annotations

from dataclasses import dataclass

CALLS_MAX = 1_000  #: of one lease that are believed; a worker makes a handful


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What one piece took between its lease and its return."""

    calls: int = 0  #: model calls; 0 for a line that no model was asked for
    over_length: int = 0  #: answers of which no line was short enough; at most `calls`

    @classmethod
    def told(cls, calls: int, over_length: int) -> Asked:
        """What a worker tells, within its bounds: a line is worth more than the count that comes with it."""
        calls = min(max(calls, 0), CALLS_MAX)
        return cls(calls=calls, over_length=min(max(over_length, 0), calls))


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What lines have cost, of a log or of one piece."""

    lines: int = 0  #: that a model wrote
    calls: int = 0
    over_length: int = 0
    retries: int = 0  #: calls that asked again for a line that an earlier call had not given


def cost(asked: Asked, *, before: bool, line: bool) -> Costs:
    """What a piece's return adds, with its line or without.

    `before`: a model was asked for this line already, in an earlier lease.
    """
    first = 0 if before else min(asked.calls, 1)
    return Costs(
        lines=int(line and asked.calls > 0),
        calls=asked.calls,
        over_length=asked.over_length,
        retries=asked.calls - first,
    )
