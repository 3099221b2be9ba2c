"""What model calls used and cost. Pure.

Tokens are the model's; costs are millionths of the price table's currency, None where a price is unknown.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from onechat_agent.domain.chat import AgentId


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


def summary(records: Iterable[UsageRecord]) -> str:
    """Usage for people: a line per day, purpose and model, newest day first."""
    lines = []
    for record in records:
        share = f"{100 * record.cached_input // record.input}%" if record.input else "-"
        lines.append(
            f"{record.day}  {record.agent_name} {record.purpose} ({record.model}): {record.calls} calls, "
            f"{record.input:,} tokens in ({share} from cache), {record.output:,} out, {_money(record)}"
        )
    return "\n".join(lines) or "No model calls in these days."


def _money(record: UsageRecord) -> str:
    if record.cost_millionths is None:
        return "cost unknown"
    return f"cost {record.cost_millionths / 1_000_000:.4f}"


def prices_from(table: Mapping[str, object]) -> dict[str, Price]:
    """The price table as prices.toml holds it: a section a model. Raises ValueError naming the section."""
    prices = {}
    for model, row in table.items():
        try:
            numbers = {name: float(row[name]) for name in ("input", "cached_input", "output")}  # type: ignore[index]
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"[{model}] needs the numbers input, cached_input and output") from None
        prices[model] = Price(**numbers)
    return prices
