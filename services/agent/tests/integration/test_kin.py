"""Who may name whom: the root its children and subagents, a child its subagents, a subagent itself."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from onechat_agent.__main__ import MIGRATIONS, NAME
from onechat_agent.adapters import agent_rows
from onechat_agent.domain.agent import Agent, AgentState, Role
from onechat_agent.domain.chat import AgentId
from onechat_agent.kin import SUBAGENTS_SHOWN, Kin
from onechat_runtime.clock import SystemClock
from onechat_runtime.store import Store, migrations_in

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)
EVERYBODY = ("One", "House", "Garden", "Cellar", "One-1", "House-1", "Garden-1")


def row(name: str, role: Role, parent: str = "", state: AgentState = AgentState.READY) -> Agent:
    """An agent whose id is its name in small letters."""
    above = AgentId(parent.lower()) if parent else None
    return Agent(id=AgentId(name.lower()), name=name, role=role, state=state, parent=above)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """A household; Cellar was taken away, House-1 has done its work."""
    there = [
        row("One", Role.ROOT),
        row("House", Role.CHILD, "One"),
        row("Garden", Role.CHILD, "One"),
        row("Cellar", Role.CHILD, "One", AgentState.REMOVED),
        row("One-1", Role.SUBAGENT, "One", AgentState.WORKING),
        row("House-1", Role.SUBAGENT, "House", AgentState.FINISHED),
        row("Garden-1", Role.SUBAGENT, "Garden", AgentState.WORKING),
    ]
    migrations = migrations_in(MIGRATIONS)
    path = tmp_path / "store.db"
    async with Store.open(path, component=NAME, migrations=migrations, clock=SystemClock()) as store:
        for one in there:
            await store.write(lambda db, one=one: agent_rows.add(db, one, NOON))
        yield store


@pytest.mark.parametrize(
    ("who", "its_own"),
    [
        ("one", {"House", "Garden", "One-1"}),
        ("house", {"House-1"}),
        ("garden", {"Garden-1"}),
        ("one-1", set()),
        ("house-1", set()),
    ],
)
async def test_each_tells_its_own_people_and_nobody_elses(store: Store, who: str, its_own: set[str]) -> None:
    """A child must not speak to its sister or its parent, nor the root past a child to whom it has called."""
    kin = Kin(store)

    assert {name for name in EVERYBODY if kin.own(AgentId(who), name)} == its_own


@pytest.mark.parametrize(
    ("who", "readable"),
    [
        ("one", {"One", "House", "Garden", "One-1"}),
        ("house", {"House", "House-1"}),
        ("house-1", {"House-1"}),
    ],
)
async def test_each_reads_the_memory_of_its_own_people_and_its_own(
    store: Store, who: str, readable: set[str]
) -> None:
    kin = Kin(store)

    assert {name for name in EVERYBODY if kin.readable(AgentId(who), name)} == readable


@pytest.mark.parametrize("name", ["house", "[House]", " HOUSE "])
async def test_a_name_is_known_in_any_case_and_with_the_brackets_of_messages(store: Store, name: str) -> None:
    found = Kin(store).own(AgentId("one"), name)

    assert found is not None
    assert found.name == "House"


@pytest.mark.parametrize("name", ["", "house-1", "whatever; DROP", "[[House]]", "House\nGarden", "one"])
async def test_what_is_no_name_of_its_own_is_nobody(store: Store, name: str) -> None:
    """Others' people, its own name, and what only looks like one."""
    assert Kin(store).own(AgentId("one"), name) is None


async def test_of_many_subagents_the_latest_are_named_after_the_children(store: Store) -> None:
    for number in range(2, SUBAGENTS_SHOWN + 5):
        one = row(f"One-{number}", Role.SUBAGENT, "One", AgentState.FINISHED)
        await store.write(lambda db, one=one: agent_rows.add(db, one, datetime.now(UTC)))

    names = Kin(store).names(AgentId("one"))

    assert names[:2] == ["Garden", "House"]
    assert names[2:] == [f"One-{number}" for number in range(5, SUBAGENTS_SHOWN + 5)]
