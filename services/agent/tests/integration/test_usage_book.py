"""What calls used, by the user's day: it outlives restarts, and an unknown price is never zero."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.usage import Price, Purpose, UsageRecord, summary
from onechat_agent.model.items import TokenUsage
from onechat_agent.usage_book import UsageBook, read_prices
from onechat_runtime.errors import StartRefused
from onechat_runtime.store import Store, migrations_in

from tests.fakes.clock import ManualClock

ROOT = AgentId("root")
ROME = ZoneInfo("Europe/Rome")
LATE = datetime(2026, 3, 28, 22, 30, tzinfo=UTC)  # 23:30 in Rome, before the night of summer time
RECORD = UsageRecord(
    day="2026-03-28",
    agent=ROOT,
    agent_name="One",
    model="m",
    purpose=Purpose.TURN,
    calls=2,
    input=100,
    cached_input=25,
    output=10,
    reasoning=0,
    cost_millionths=1_000,
)
USED = TokenUsage(input=1_000, cached_input=400, output=200, reasoning=50)


class Place:
    """Where a store lies, and the clock of all its starts."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "store.db"
        self.clock = ManualClock(LATE)

    def open(self) -> "AsyncIterator[Store]":
        migrations = migrations_in("onechat_agent.migrations")
        return Store.open(self.path, component="agent", migrations=migrations, clock=self.clock)  # type: ignore[return-value]

    def book(self, store: Store, **prices: Price) -> UsageBook:
        return UsageBook(store, self.clock, ROME, prices)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_a_call_counts_on_the_users_day_and_outlives_a_restart(place: Place) -> None:
    async with place.open() as store:  # type: ignore[attr-defined]
        await place.book(store).record_alone(ROOT, "m", Purpose.TURN, USED)
        place.clock.advance(3600)
        await place.book(store).record_alone(ROOT, "m", Purpose.TURN, USED)
        await place.book(store).record_alone(ROOT, "m", Purpose.TURN, USED)
    async with place.open() as store:  # type: ignore[attr-defined]
        records = place.book(store).last_days(2)

        assert [(one.day, one.calls, one.input) for one in records] == [
            ("2026-03-29", 2, 2_000),
            ("2026-03-28", 1, 1_000),
        ]
        assert place.book(store).tokens_today(ROOT) == 2_400


async def test_tomorrow_begins_at_midnight_also_on_a_day_of_23_hours(place: Place) -> None:
    async with place.open() as store:  # type: ignore[attr-defined]
        place.clock.advance(3600)
        tomorrow = place.book(store).tomorrow()

        assert tomorrow.astimezone(UTC) == datetime(2026, 3, 29, 22, 0, tzinfo=UTC)


async def test_cost_is_by_fresh_cached_and_output_tokens_and_unknown_once_one_price_is(place: Place) -> None:
    price = Price(input=2.0, cached_input=0.5, output=8.0)
    async with place.open() as store:  # type: ignore[attr-defined]
        await place.book(store, m=price).record_alone(ROOT, "m", Purpose.TURN, USED)
        (known,) = place.book(store).last_days(1)
        await place.book(store).record_alone(ROOT, "m", Purpose.TURN, USED)
        (unknown,) = place.book(store).last_days(1)

        assert known.cost_millionths == 600 * 2 + 400 * 0.5 + 200 * 8
        assert unknown.cost_millionths is None
        assert "40% from cache" in summary([known])
        assert "cost 0.0030" in summary([known])
        assert "cost unknown" in summary([unknown])


def test_a_summary_has_a_sum_for_each_day_and_lines_as_long_as_there_is_room() -> None:
    """A day with many subagents must not push the others out of one message."""
    records = [
        replace(RECORD, day=day, agent_name=f"One-{number}")
        for day in ("2026-03-29", "2026-03-28")
        for number in range(5)
    ]

    lines = summary(records, most=9).splitlines()

    assert lines[0] == "2026-03-29: 10 calls, 500 tokens in (25% from cache), 50 out, cost 0.0050"
    assert lines[1] == ("  One-0 turn (m): 2 calls, 100 tokens in (25% from cache), 10 out, cost 0.0010")
    assert [line.split()[0] for line in lines[6:]] == ["2026-03-28:", "One-0", "One-1", "and"]
    assert lines[-1] == "  and 3 more"


async def test_a_call_that_used_nothing_is_not_counted_alone(place: Place) -> None:
    async with place.open() as store:  # type: ignore[attr-defined]
        await place.book(store).record_alone(ROOT, "m", Purpose.TURN, TokenUsage())

        assert place.book(store).last_days(1) == []


def test_prices_are_read_and_a_broken_table_is_refused_with_a_line(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    assert read_prices(path) == {}
    path.write_text('["gpt-6.1-terra"]\ninput = 1\ncached_input = 0.1\noutput = 4\n')
    assert read_prices(path) == {"gpt-6.1-terra": Price(input=1.0, cached_input=0.1, output=4.0)}

    nan = "[m]\ninput = 1\ncached_input = nan\noutput = 1\n"
    for broken in ("[m]\ninput = 1\n", "[m", "m = 5\n", nan, nan.replace("nan", "-1")):
        path.write_text(broken)
        with pytest.raises(StartRefused) as why:
            read_prices(path)
        assert str(path) in str(why.value)
        assert "\n" not in str(why.value)
