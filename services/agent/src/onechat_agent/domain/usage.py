"""What model calls used and cost. Pure.

Tokens are the model's; costs are millionths of the price table's currency, None where a price is unknown.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Final

from onechat_agent.domain.chat import AgentId

SUMMARY_LINES: Final = 40  # of /usage: what one message of a messenger holds
_PRICE_MAX: Final = 1_000_000  # a typing error; and no cost of a call passes 64 bits


class Purpose(StrEnum):
    """What a model call was for."""

    TURN = "turn"
    COMPACTION = "compaction"
    SUBAGENT = "subagent"
    IMPORT = "import"
    MENTION = "mention"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a million tokens of a model cost, in the table's currency."""

    input: float
    cached_input: float
    output: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRecord:
    """Calls of one agent, day, model and purpose together."""

    day: str  #: the user's, YYYY-MM-DD
    agent: AgentId
    agent_name: str
    model: str
    purpose: Purpose
    calls: int
    input: int  #: cached ones among them
    cached_input: int
    output: int  #: reasoning among them
    reasoning: int
    cost_millionths: int | None


def cost(price: Price | None, *, input_tokens: int, cached_tokens: int, output_tokens: int) -> int | None:
    """What a call cost, in millionths; None where the price is unknown."""
    if price is None:
        return None
    fresh = input_tokens - cached_tokens
    return round(fresh * price.input + cached_tokens * price.cached_input + output_tokens * price.output)


def summary(records: Iterable[UsageRecord], *, most: int = SUMMARY_LINES) -> str:
    """Usage for people: each day with its sum, newest first, and in it a line per agent, purpose and model.

    Of what is more than `most` lines only the days' sums are shown.
    """
    days = [(day, list(of_day)) for day, of_day in groupby(records, key=lambda record: record.day)]
    lines: list[str] = []
    room = most - len(days)
    for day, of_day in days:
        lines.append(f"{day}: {_figures(of_day)}")
        shown = of_day[: max(room, 0)]
        room -= len(shown)
        lines += [f"  {one.agent_name} {one.purpose} ({one.model}): {_figures([one])}" for one in shown]
        if len(shown) < len(of_day):
            lines.append(f"  and {len(of_day) - len(shown)} more")
    return "\n".join(lines) or "No model calls in these days."


def _figures(records: Sequence[UsageRecord]) -> str:
    calls, out = sum(one.calls for one in records), sum(one.output for one in records)
    read, cached = sum(one.input for one in records), sum(one.cached_input for one in records)
    share = f"{100 * cached // read}%" if read else "-"
    plural = "call" if calls == 1 else "calls"
    cost = _money([one.cost_millionths for one in records])
    return f"{calls:,} {plural}, {read:,} tokens in ({share} from cache), {out:,} out, {cost}"


def _money(costs: Sequence[int | None]) -> str:
    """Unknown where a part is: a sum that leaves something out would be taken for the whole."""
    known = [cost for cost in costs if cost is not None]
    return "cost unknown" if len(known) < len(costs) else f"cost {sum(known) / 1_000_000:.4f}"


def prices_from(table: Mapping[str, object]) -> dict[str, Price]:
    """The price table as prices.toml holds it: a section a model. Raises ValueError naming the section."""
    prices = {}
    for model, row in table.items():
        try:
            numbers = {name: float(row[name]) for name in ("input", "cached_input", "output")}  # type: ignore[index]
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"[{model}] needs the numbers input, cached_input and output") from None
        if not all(0 <= number < _PRICE_MAX for number in numbers.values()):  # so is no nan
            raise ValueError(f"[{model}] has a price below 0 or above {_PRICE_MAX:,}")
        prices[model] = Price(**numbers)
    return prices
