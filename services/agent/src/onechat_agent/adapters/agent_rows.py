"""The rows of agents and single facts; every function works inside the caller's transaction.

The rows of routes: route_rows.py.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

import apsw
from onechat_runtime.clock import instant, micros

from onechat_agent.domain.agent import Agent, AgentState, Role
from onechat_agent.domain.chat import AgentId

_AGENT = "SELECT agent_id, name, role, state, parent_id, area, effort, create_time, source FROM agents "


def root(db: apsw.Connection) -> Agent | None:
    """The root, or None before the first start."""
    row = db.execute(_AGENT + "WHERE role = 'root'").fetchone()
    return None if row is None else _agent(row)


def agent(db: apsw.Connection, wanted: AgentId) -> Agent | None:
    """The agent of that id, a removed one too; None for an id that is none."""
    row = db.execute(_AGENT + "WHERE agent_id = ?", (wanted,)).fetchone()
    return None if row is None else _agent(row)


def named(db: apsw.Connection, name: str) -> Agent | None:
    """The agent of that name, in any case of its letters, if it is not removed."""
    row = db.execute(_AGENT + "WHERE name = ? AND state <> 'removed'", (name,)).fetchone()
    return None if row is None else _agent(row)


def of_source(db: apsw.Connection, source: str) -> Agent | None:
    """The agent of the group with that source, if it is not removed."""
    row = db.execute(
        _AGENT + "WHERE source = ? AND source <> '' AND state <> 'removed'", (source,)
    ).fetchone()
    return None if row is None else _agent(row)


def of_role(db: apsw.Connection, role: Role, *, parent: AgentId | None = None) -> list[Agent]:
    """All agents of `role` that are not removed, oldest first; `parent`'s alone where one is given."""
    rows = db.execute(
        _AGENT + "WHERE role = ?1 AND state <> 'removed' AND (?2 IS NULL OR parent_id = ?2)"
        " ORDER BY create_time, name",
        (role, parent),
    )
    return [_agent(row) for row in rows]


def of_parent(db: apsw.Connection, parent: AgentId) -> list[Agent]:
    """The children and subagents of `parent` that are not removed, oldest first."""
    rows = db.execute(
        _AGENT + "WHERE parent_id = ? AND state <> 'removed' ORDER BY create_time, name", (parent,)
    )
    return [_agent(row) for row in rows]


def all_but(db: apsw.Connection, role: Role) -> list[Agent]:
    """All agents of other roles than `role` that are not removed."""
    rows = db.execute(_AGENT + "WHERE role <> ? AND state <> 'removed' ORDER BY create_time, name", (role,))
    return [_agent(row) for row in rows]


def subagents(db: apsw.Connection, states: Collection[AgentState]) -> list[Agent]:
    """The subagents in one of `states`, oldest first."""
    among = ", ".join("?" * len(states))
    rows = db.execute(
        _AGENT + f"WHERE role = 'subagent' AND state IN ({among}) ORDER BY create_time, name", tuple(states)
    )
    return [_agent(row) for row in rows]


def subagents_with_work(db: apsw.Connection) -> list[Agent]:
    """The subagents that are not done, or for which something is queued; those at work before go first."""
    rows = db.execute(
        _AGENT + "WHERE role = 'subagent' AND state <> 'removed' AND (state IN ('waiting', 'working')"
        " OR agent_id IN (SELECT agent_id FROM deliveries WHERE state = 'queued')"
        " OR agent_id IN (SELECT agent_id FROM turns WHERE state = 'begun'))"
        " ORDER BY state <> 'working', create_time, name"
    )
    return [_agent(row) for row in rows]


def name_was_given(db: apsw.Connection, name: str) -> bool:
    """Whether an agent has or had that name, in any case of its letters."""
    return bool(db.execute("SELECT EXISTS (SELECT 1 FROM agents WHERE name = ?)", (name,)).get)


def add(db: apsw.Connection, new: Agent, now: datetime) -> None:
    """Stores an agent that is being made; its name must be free."""
    db.execute(
        "INSERT INTO agents (agent_id, name, role, state, parent_id, area, effort, create_time, source)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (new.id, new.name, new.role, new.state, new.parent, new.area, new.effort, micros(now), new.source),
    )


def adopt(db: apsw.Connection, found: Agent, now: datetime) -> None:
    """Stores an agent whose folder was found, also where it was there before and was removed."""
    known = agent(db, found.id)
    if known is None:
        return add(db, found, now)
    db.execute(
        "UPDATE agents SET name = ?, state = ?, area = ?, source = ? WHERE agent_id = ?",
        (found.name, found.state, found.area, found.source, found.id),
    )
    return None


def set_area(db: apsw.Connection, agent: AgentId, area: str) -> None:
    """What a child is responsible for from now on, or what a group is called."""
    db.execute("UPDATE agents SET area = ? WHERE agent_id = ?", (area, agent))


def next_number(db: apsw.Connection, owner: AgentId) -> int:
    """The number of the owner's next subagent, from 1, taken for good."""
    db.execute("UPDATE agents SET spawned = spawned + 1 WHERE agent_id = ?", (owner,))
    return int(db.execute("SELECT spawned FROM agents WHERE agent_id = ?", (owner,)).get)


def set_state(db: apsw.Connection, agent: AgentId, state: AgentState) -> None:
    """How far an agent is from now on."""
    db.execute("UPDATE agents SET state = ? WHERE agent_id = ?", (state, agent))


def make_ready(db: apsw.Connection, agent: AgentId) -> None:
    """Its log and its folder are there."""
    set_state(db, agent, AgentState.READY)


def rename(db: apsw.Connection, agent: AgentId, name: str) -> None:
    """Gives an agent another name; its id stays."""
    db.execute("UPDATE agents SET name = ? WHERE agent_id = ?", (name, agent))


def results_from(db: apsw.Connection, agent: AgentId) -> int:
    """The message of a subagent's log before which results are shown as pointers."""
    return int(db.execute("SELECT results_from FROM agents WHERE agent_id = ?", (agent,)).get or 0)


def show_results_from(db: apsw.Connection, agent: AgentId, message: int) -> None:
    """Results before `message` are pointers from now on."""
    db.execute("UPDATE agents SET results_from = ? WHERE agent_id = ?", (message, agent))


def read_generation(db: apsw.Connection, agent: AgentId, generation: int) -> None:
    """The agent's log was read and is of `generation`; what is told of the agent carries it from now on."""
    db.execute(
        "UPDATE agents SET generation = ? WHERE agent_id = ? AND generation <> ?",
        (generation, agent, generation),
    )


def name_of(db: apsw.Connection, agent: AgentId) -> str:
    """An agent's name, a removed one's too; empty for an id that is none."""
    return str(db.execute("SELECT name FROM agents WHERE agent_id = ?", (agent,)).get or "")


def fact(db: apsw.Connection, name: str) -> str | None:
    """A single fact of the store, such as its stream of events."""
    row = db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def set_fact(db: apsw.Connection, name: str, value: str) -> None:
    """Stores a single fact."""
    db.execute(
        "INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, value),
    )


def _agent(row: Sequence[Any]) -> Agent:
    return Agent(
        id=AgentId(row[0]),
        name=row[1],
        role=Role(row[2]),
        state=AgentState(row[3]),
        parent=None if row[4] is None else AgentId(row[4]),
        area=row[5],
        effort=row[6],
        create_time=instant(row[7]),
        source=row[8],
    )
