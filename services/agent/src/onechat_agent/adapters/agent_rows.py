"""The rows of agents, routes and single facts; every function works inside the caller's transaction."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import apsw
from onechat_runtime.clock import micros

from onechat_agent.domain.chat import AgentId


class Role(StrEnum):
    ROOT = "root"
    CHILD = "child"
    SUBAGENT = "subagent"
    GROUP = "group"


class AgentState(StrEnum):
    CREATING = "creating"  #: its log or folder may not be there yet; finished at start
    READY = "ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRow:
    id: AgentId
    name: str
    role: Role
    state: AgentState


def root(db: apsw.Connection) -> AgentRow | None:
    """The root, or None before the first start."""
    row = db.execute("SELECT agent_id, name, role, state FROM agents WHERE role = 'root'").fetchone()
    if row is None:
        return None
    return AgentRow(id=AgentId(row[0]), name=row[1], role=Role(row[2]), state=AgentState(row[3]))


def add(db: apsw.Connection, agent: AgentRow, now: datetime) -> None:
    """Stores an agent that is being made."""
    db.execute(
        "INSERT INTO agents (agent_id, name, role, state, create_time) VALUES (?, ?, ?, ?, ?)",
        (agent.id, agent.name, agent.role, agent.state, micros(now)),
    )


def make_ready(db: apsw.Connection, agent: AgentId) -> None:
    """Its log and its folder are there."""
    db.execute("UPDATE agents SET state = 'ready' WHERE agent_id = ?", (agent,))


def rename(db: apsw.Connection, agent: AgentId, name: str) -> None:
    """Gives an agent another name; its id stays."""
    db.execute("UPDATE agents SET name = ? WHERE agent_id = ?", (name, agent))


def name_of(db: apsw.Connection, agent: AgentId) -> str:
    """An agent's name; empty for an id that is none."""
    return str(db.execute("SELECT name FROM agents WHERE agent_id = ?", (agent,)).get or "")


def known_ids(db: apsw.Connection) -> set[AgentId]:
    """The ids of all agents."""
    return {AgentId(row[0]) for row in db.execute("SELECT agent_id FROM agents")}


def route(db: apsw.Connection, source: str) -> AgentId | None:
    """Which child gets what comes from `source`; None: the root."""
    row = db.execute(
        "SELECT agent_id FROM routes JOIN agents USING (agent_id) WHERE source = ? AND state = 'ready'",
        (source,),
    ).fetchone()
    return None if row is None else AgentId(row[0])


def routes(db: apsw.Connection, *, after: str, limit: int) -> list[tuple[str, AgentId, str]]:
    """A page of routes by source: (source, agent's id, agent's name)."""
    rows = db.execute(
        "SELECT source, agent_id, name FROM routes JOIN agents USING (agent_id)"
        " WHERE source > ? ORDER BY source LIMIT ?",
        (after, limit),
    )
    return [(row[0], AgentId(row[1]), row[2]) for row in rows]


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
