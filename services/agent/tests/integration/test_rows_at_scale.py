"""The queue's statements after years of deliveries: none that a turn runs reads through all there ever were.

They run in the event loop's thread, where a long one would hold up every agent.
"""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest
from onechat_agent.__main__ import MIGRATIONS, NAME
from onechat_agent.adapters import agent_rows, delivery_rows, turn_rows
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import TurnId
from onechat_runtime.clock import SystemClock
from onechat_runtime.store import Store, migrations_in

AGENT, TURN, NOON = AgentId("a1"), TurnId("t1"), datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with Store.open(
        tmp_path / "store.db", component=NAME, migrations=migrations_in(MIGRATIONS), clock=SystemClock()
    ) as opened:
        yield opened


async def test_no_statement_of_a_turn_reads_through_all_deliveries_or_turns(store: Store) -> None:
    def job(db: apsw.Connection) -> list[str]:
        said: list[tuple[str, object]] = []

        def heard(_: object, sql: str, bindings: object) -> bool:
            said.append((sql, bindings))
            return True

        db.exec_trace = heard
        _all_of_a_turn(db)
        db.exec_trace = None
        return [
            f"{step[3]}: {sql}"
            for sql, bindings in said
            for step in db.execute(f"EXPLAIN QUERY PLAN {sql}", bindings)  # type: ignore[arg-type]
        ]

    steps = await store.write(job)

    assert len(steps) > 10
    assert [step for step in steps if step.startswith(("SCAN deliveries:", "SCAN turns:"))] == []


def _all_of_a_turn(db: apsw.Connection) -> None:
    delivery_rows.known(db, "k")
    delivery_rows.queued(db, AGENT)
    delivery_rows.groups(db, AGENT)
    delivery_rows.stored_of(db, "g")
    delivery_rows.waiting_with(db, "g")
    delivery_rows.of_turn(db, TURN)
    delivery_rows.hops(db, TURN)
    delivery_rows.heard_outside(db, AGENT)
    delivery_rows.waiting(db, AGENT)
    delivery_rows.wake_nobody(db, AGENT, NOON)
    delivery_rows.quieten_agents(db, AGENT, NOON, everybody=True)
    agent_rows.subagents_with_work(db)
    turn_rows.at_work(db, AGENT)
    turn_rows.heard_outside(db, AGENT)
    turn_rows.last(db, AGENT)
