"""How far a subagent is, by the rows; every function works inside the caller's transaction.

A message that comes in the very moment in which it has nothing left is in the queue before or after these
commits, and so never lost: subagents.py. The states: domain/agent.py.
"""

from typing import Final

import apsw

from onechat_agent.adapters import agent_rows, delivery_rows, turn_rows
from onechat_agent.domain.agent import UNFINISHED, AgentState, subagent_name
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.turn import TurnState

_AFTER: Final = {
    TurnState.STOPPED: AgentState.STOPPED,
    TurnState.FAILED: AgentState.FAILED,
}


def stand_in_line(db: apsw.Connection, agent: AgentId) -> None:
    """It waits, if it has a task; one that was at work before a restart goes before the others still."""
    row = agent_rows.agent(db, agent)
    if row is not None and row.state not in UNFINISHED and _has_task(db, agent):
        agent_rows.set_state(db, agent, AgentState.WAITING)


def begin(db: apsw.Connection, agent: AgentId) -> None:
    """It is at work, if it has a task."""
    if _has_task(db, agent):
        agent_rows.set_state(db, agent, AgentState.WORKING)


def rest(db: apsw.Connection, agent: AgentId) -> bool:
    """Whether it is done, and how, by its last turn; one that was stopped before any stays so."""
    if delivery_rows.queued(db, agent):
        return False
    row = agent_rows.agent(db, agent)
    if row is not None and row.state in UNFINISHED:
        last = turn_rows.last(db, agent)
        state = _AFTER.get(last.state, AgentState.FINISHED) if last else AgentState.FINISHED
        agent_rows.set_state(db, agent, state)
    return True


def free_name(db: apsw.Connection, owner: AgentId, name: str) -> str:
    """The owner's next name that nobody has or had: a child of a removed one's name goes on counting."""
    while True:
        found = subagent_name(name, agent_rows.next_number(db, owner))
        if not agent_rows.name_was_given(db, found):
            return found


def _has_task(db: apsw.Connection, agent: AgentId) -> bool:
    """Whether it has more to do than to take note of what wakes nobody."""
    wakes = any(delivery.wakes for delivery in delivery_rows.queued(db, agent))
    return wakes or turn_rows.at_work(db, agent) is not None
