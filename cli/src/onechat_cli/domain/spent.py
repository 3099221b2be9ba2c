"""Model usage as people read it: counts, the share read from cache, cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from onechat_cli.domain.safe_text import one_line
from onechat_cli.domain.table import table

_CELL: Final = 40  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Calls of one day, agent, purpose and model together. Counts of tokens."""

    day: str  #: YYYY-MM-DD, the user's
    agent: str
    purpose: str
    model: str
    calls: int
    input_tokens: int  #: cached ones among them
    cached_input_tokens: int
    output_tokens: int  #: reasoning among them
    reasoning_tokens: int
    cost_millionths: int | None  #: None where the price is not known

    @property
    def cache_read_share(self) -> float | None:
        """The part of the input that was read from cache, 0 to 1; None without input."""
        return self.cached_input_tokens / self.input_tokens if self.input_tokens else None


def lines_of(spent: Sequence[Spent]) -> list[str]:
    """A table of `spent` with a last row of sums."""
    rows = [("DAY", "AGENT", "PURPOSE", "MODEL", "CALLS", "INPUT", "CACHED", "OUTPUT", "COST")]
    rows += [
        (one.day, one_line(one.agent, _CELL), one.purpose, one_line(one.model, _CELL), *_numbers(one))
        for one in spent
    ]
    if len(spent) > 1:
        rows.append(("total", "", "", "", *_numbers(_sum(spent))))
    return table(rows, right=frozenset(range(4, 9)))


def _numbers(one: Spent) -> tuple[str, str, str, str, str]:
    share = one.cache_read_share
    return (
        f"{one.calls:,}",
        f"{one.input_tokens:,}",
        "-" if share is None else f"{share:.0%}",
        f"{one.output_tokens:,}",
        "unknown" if one.cost_millionths is None else f"{one.cost_millionths / 1e6:.4f}",
    )


def _sum(spent: Sequence[Spent]) -> Spent:
    """All of `spent` together; the cost is unknown where a part of it is."""
    costs = [one.cost_millionths for one in spent]
    return Spent(
        day="",
        agent="",
        purpose="",
        model="",
        calls=sum(one.calls for one in spent),
        input_tokens=sum(one.input_tokens for one in spent),
        cached_input_tokens=sum(one.cached_input_tokens for one in spent),
        output_tokens=sum(one.output_tokens for one in spent),
        reasoning_tokens=sum(one.reasoning_tokens for one in spent),
        cost_millionths=None if None in costs else sum(cost for cost in costs if cost is not None),
    )
