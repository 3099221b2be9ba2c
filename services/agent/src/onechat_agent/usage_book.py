"""What the model calls used, by the user's day; prices from prices.toml.

The records' rows: adapters/usage_rows.py. Costs are millionths of the table's currency.
"""

import tomllib
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.errors import StartRefused
from onechat_runtime.store import Store

from onechat_agent.adapters import usage_rows
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.usage import Price, Purpose, UsageRecord, cost, prices_from
from onechat_agent.model.items import TokenUsage
from onechat_agent.patience import committed


class UsageBook:
    """Records calls and answers for them."""

    def __init__(self, store: Store, clock: Clock, zone: ZoneInfo, prices: Mapping[str, Price]) -> None:
        self._store = store
        self._clock = clock
        self._zone = zone
        self._prices = prices

    def record(
        self, db: apsw.Connection, agent: AgentId, model: str, purpose: Purpose, tokens: TokenUsage
    ) -> None:
        """Adds one call, in the caller's transaction."""
        usage_rows.count(
            db,
            day=self.today(),
            agent=agent,
            model=model,
            purpose=purpose,
            tokens=tokens,
            cost_millionths=cost(
                self._prices.get(model),
                input_tokens=tokens.input,
                cached_tokens=tokens.cached_input,
                output_tokens=tokens.output,
            ),
        )

    async def record_alone(self, agent: AgentId, model: str, purpose: Purpose, tokens: TokenUsage) -> None:
        """Adds one call in a transaction of its own; one that used nothing is not counted."""
        if tokens != TokenUsage():
            await committed(
                self._store, self._clock, lambda db: self.record(db, agent, model, purpose, tokens)
            )

    def today(self) -> str:
        """The user's day, YYYY-MM-DD."""
        return self._clock.now().astimezone(self._zone).date().isoformat()

    def tomorrow(self) -> datetime:
        """When the user's next day begins."""
        now = self._clock.now().astimezone(self._zone)
        return datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), tzinfo=self._zone)

    def tokens_today(self, agent: AgentId) -> int:
        """Tokens in and out that `agent` has used today."""
        day = self.today()
        return self._store.read(lambda db: usage_rows.tokens_of_day(db, agent, day))

    def between(self, since: str, until: str, *, limit: int, offset: int = 0) -> list[UsageRecord]:
        """A page of the records of the days `since` to `until`, newest first."""
        return self._store.read(lambda db: usage_rows.between(db, since, until, limit=limit, offset=offset))

    def days(self, since: str, until: str) -> tuple[str, str]:
        """The days asked for; empty ones are thirty days ago and today."""
        today = self._clock.now().astimezone(self._zone).date()
        return since or (today - timedelta(days=30)).isoformat(), until or today.isoformat()

    def last_days(self, days: int, *, limit: int = 10_000) -> list[UsageRecord]:
        """The records of the last `days` days, today among them."""
        today = self._clock.now().astimezone(self._zone).date()
        since = (today - timedelta(days=days - 1)).isoformat()
        return self.between(since, today.isoformat(), limit=limit)


def read_prices(path: Path) -> dict[str, Price]:
    """The price table; empty where there is none. Raises StartRefused for one that cannot be read."""
    try:
        return prices_from(tomllib.loads(path.read_text()))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise StartRefused(
            f"{path} cannot be used as a price table: {error}. Mend it or remove it."
        ) from None
