"""The rows of routes, and of the other ids of sources; every function works inside the caller's transaction.

Routes are kept by the ids in use alone, and found by those alone: `in_use` says which one that is. What
routes do: routes.py of the package.
"""

from datetime import datetime

import apsw
from onechat_runtime.clock import micros

from onechat_agent.domain.chat import AgentId


def in_use(db: apsw.Connection, source: str) -> str:
    """The id that what `source` names goes by now; `source` itself where no other is known."""
    row = db.execute("SELECT source FROM former_sources WHERE former = ?", (source,)).fetchone()
    return source if row is None else str(row[0])


def unite(db: apsw.Connection, former: str, source: str) -> None:
    """From now on `former` means `source`, which is in use itself, and its route is that one's.

    If both are routed, the route that was set later stays. Neither means anything else any more: a number may
    come to somebody else, and somebody to another one, who then keeps the route.
    """
    before = in_use(db, former)
    if before == source:
        return
    db.execute("DELETE FROM former_sources WHERE former IN (?1, ?2) OR source IN (?1, ?2)", (former, source))
    db.execute("INSERT INTO former_sources (former, source) VALUES (?, ?)", (former, source))
    db.execute(
        "INSERT INTO routes (source, agent_id, create_time)"
        " SELECT ?2, agent_id, create_time FROM routes WHERE source = ?1 ON CONFLICT (source)"
        " DO UPDATE SET agent_id = excluded.agent_id, create_time = excluded.create_time"
        " WHERE create_time < excluded.create_time",
        (before, source),
    )
    remove(db, before)


def route(db: apsw.Connection, source: str) -> AgentId | None:
    """Whom the route of `source` names, who may be gone by now; None without a route."""
    row = db.execute("SELECT agent_id FROM routes WHERE source = ?", (source,)).fetchone()
    return None if row is None else AgentId(row[0])


def put(db: apsw.Connection, source: str, agent: AgentId, now: datetime) -> None:
    """What comes from `source` is `agent`'s from now on."""
    db.execute(
        "INSERT INTO routes (source, agent_id, create_time) VALUES (?, ?, ?) ON CONFLICT (source)"
        " DO UPDATE SET agent_id = excluded.agent_id, create_time = excluded.create_time",
        (source, agent, micros(now)),
    )


def remove(db: apsw.Connection, source: str) -> None:
    """What comes from `source` is the root's from now on."""
    db.execute("DELETE FROM routes WHERE source = ?", (source,))


def every(db: apsw.Connection) -> list[tuple[str, str, bool]]:
    """Every route, by source: (source, the agent's name, whether it is there)."""
    rows = db.execute(
        "SELECT routes.source, name, state <> 'removed' FROM routes JOIN agents USING (agent_id)"
        " ORDER BY routes.source"
    )
    return [(row[0], row[1], bool(row[2])) for row in rows]


def page(db: apsw.Connection, *, after: str, limit: int) -> list[tuple[str, AgentId, str]]:
    """A page of routes by source: (source, agent's id, agent's name)."""
    rows = db.execute(
        "SELECT routes.source, agent_id, name FROM routes JOIN agents USING (agent_id)"
        " WHERE routes.source > ? ORDER BY routes.source LIMIT ?",
        (after, limit),
    )
    return [(row[0], AgentId(row[1]), row[2]) for row in rows]
