"""tell over real queues: what is told once stays told once, whatever a restart makes of the call."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from onechat_agent.__main__ import MIGRATIONS, NAME
from onechat_agent.adapters import agent_rows, delivery_rows
from onechat_agent.domain.agent import Agent, AgentState, Role
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import HOPS_MAX, TurnId
from onechat_agent.events import Events, open_stream
from onechat_agent.kin import Kin
from onechat_agent.queue import Queue
from onechat_agent.tells import Tells
from onechat_agent.tools.tell import TellTool
from onechat_agent.tools.tool import CallContext, ToolResult
from onechat_runtime.clock import SystemClock
from onechat_runtime.store import Store, migrations_in

ROOT, CHILD = AgentId("aaaa"), AgentId("bbbb")
NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)


class NoImages:
    async def is_there(self, name: str) -> bool:
        return False


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    migrations = migrations_in(MIGRATIONS)
    path = tmp_path / "store.db"
    async with Store.open(path, component=NAME, migrations=migrations, clock=SystemClock()) as store:
        ready = AgentState.READY
        for one in (
            Agent(id=ROOT, name="One", role=Role.ROOT, state=ready),
            Agent(id=CHILD, name="House", role=Role.CHILD, state=ready, parent=ROOT),
        ):
            await store.write(lambda db, one=one: agent_rows.add(db, one, NOON))
        yield store


@pytest.fixture
async def tell(store: Store) -> TellTool:
    clock = SystemClock()
    queue = Queue(store, clock, Events(store, clock, await store.write(open_stream)), ROOT)
    return TellTool(Tells(store, clock, queue, Kin(store), NoImages()))


def context(**fields: object) -> CallContext:
    said = {
        "agent": ROOT,
        "agent_name": "One",
        "memory_of": ROOT,
        "turn": TurnId("1"),
        "call_key": "t:1:1:1",
        "backed": True,
        "tainted": False,
        "hops": 0,
        "workdir": Path("/"),
        **fields,
    }
    return CallContext(**said)  # type: ignore[arg-type]


async def test_a_call_that_is_made_again_tells_once_though_its_turn_is_tainted_by_now(
    store: Store, tell: TellTool
) -> None:
    """What ran beside it may have tainted the turn before the restart; it was told before that."""
    first = await tell.run(context(), {"name": "[house]", "message": "look"})
    again = await tell.run(context(tainted=True), {"name": "[house]", "message": "look"})

    assert again == first == ToolResult(text="House has it.")
    assert [one.tainted for one in store.read(lambda db: delivery_rows.queued(db, CHILD))] == [False]


async def test_a_subagent_is_told_no_more_at_once_than_its_calls_can_hold_for_good(
    store: Store, tell: TellTool
) -> None:
    """All of its chat is in each of its calls: one long text would end every turn that it ever has."""
    helper = Agent(
        id=AgentId("cccc"), name="One-1", role=Role.SUBAGENT, state=AgentState.FINISHED, parent=ROOT
    )
    await store.write(lambda db: agent_rows.add(db, helper, NOON))

    refused = await tell.run(context(), {"name": "One-1", "message": "ä" * 50_001})
    taken = await tell.run(context(call_key="t:1:1:2"), {"name": "One-1", "message": "ä" * 50_000})
    child = await tell.run(context(call_key="t:1:1:3"), {"name": "House", "message": "ä" * 50_001})

    assert "at most 100,000 bytes at once" in refused.text
    assert refused.failed
    assert (taken.text, child.text) == ("One-1 has it.", "House has it.")


async def test_from_the_eighth_hop_on_it_is_handed_over_and_the_model_is_told_that_nobody_acts_on_it(
    store: Store, tell: TellTool
) -> None:
    told = await tell.run(context(hops=HOPS_MAX - 1), {"name": "House", "message": "thanks"})

    (delivery,) = store.read(lambda db: delivery_rows.queued(db, CHILD))
    assert (delivery.hops, delivery.wakes) == (HOPS_MAX, False)
    assert "does not go to work on it" in told.text
