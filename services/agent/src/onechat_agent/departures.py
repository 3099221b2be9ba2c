"""A child whose folder was taken away: what it had is handed on, its log is set aside, its schedules go.

Of a group's agent nothing is handed on: what waited for it is nobody else's.

One transaction does all that is the agent's own, and leaves the log and the schedules to hand-overs, which
reach the memory and the scheduler whenever those are there. How it is noticed: children.py. How a log is set
aside: adapters/memory.py.
"""

import json
import secrets
from datetime import datetime
from typing import Final

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.outbox import Outbox
from onechat_runtime.store import Store

from onechat_agent import sentences
from onechat_agent.adapters import agent_rows, delivery_rows, turn_rows
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.adapters.scheduler import SchedulerClient
from onechat_agent.domain.agent import Agent, AgentState, Role
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import Delivery
from onechat_agent.domain.events import USER_AUDIENCE, NewEvent, Noticed, TurnChanged, TurnPhase
from onechat_agent.domain.outside import as_name
from onechat_agent.domain.turn import TurnState
from onechat_agent.events import Events

# Kinds of hand-overs; their keys are the agent's id.
SET_ASIDE: Final = "set_log_aside"
DELETE_SCHEDULES: Final = "delete_schedules"


class Departures:
    """Lets children go, and takes one back whose folder has come back."""

    def __init__(
        self, store: Store, clock: Clock, events: Events, outbox: Outbox, *, root: AgentId, root_name: str
    ) -> None:
        self._store = store
        self._clock = clock
        self._events = events
        self._outbox = outbox
        self._root = root
        self._root_name = root_name

    async def remove(self, child: Agent) -> None:
        """Its name is free, its queue is the root's, its subagents end, the user is told.

        The same of a group's agent, but for its queue, which is dropped.
        """
        await self._store.write(lambda db: self._remove(db, child, self._clock.now()))

    def _remove(self, db: apsw.Connection, child: Agent, now: datetime) -> None:
        for subagent in agent_rows.of_role(db, Role.SUBAGENT, parent=child.id):
            delivery_rows.finish(db, delivery_rows.queued(db, subagent.id))
            delivery_rows.finish(db, self._end(db, subagent, now))
        taken = self._end(db, child, now)
        if child.role is Role.GROUP:
            delivery_rows.finish(db, [*taken, *delivery_rows.queued(db, child.id)])
            text = sentences.GROUP_GONE.format(name=child.name, title=as_name(child.area))
        else:
            delivery_rows.pass_on(db, child.id, child.name, self._root)
            text = sentences.CHILD_GONE.format(name=child.name)
        notice = Noticed(text=text)
        self._events.keep(db, NewEvent(agent=self._root, agent_name=self._root_name, time=now, body=notice))
        names = {"label": child.name, "staged": secrets.token_hex(8), "kept": secrets.token_hex(8)}
        body = json.dumps(names).encode()
        self._outbox.put(db, kind=SET_ASIDE, key=child.id, body=body, lane=f"memory:{child.id}", now=now)
        if child.role is Role.GROUP:
            return  # it never had a schedule
        body = f"gone:{secrets.token_hex(8)}".encode()  # of this departure: there may be a later one
        lane = f"scheduler:{child.id}"
        self._outbox.put(db, kind=DELETE_SCHEDULES, key=child.id, body=body, lane=lane, now=now)

    def _end(self, db: apsw.Connection, agent: Agent, now: datetime) -> list[Delivery]:
        """The agent is removed; the deliveries of the turn that it was in."""
        agent_rows.set_state(db, agent.id, AgentState.REMOVED)
        turn = turn_rows.at_work(db, agent.id)
        if turn is None:
            return []
        turn_rows.end(db, turn.id, TurnState.STOPPED, now)
        change = TurnChanged(phase=TurnPhase.STOPPED, reason=sentences.TAKEN_AWAY.format(name=agent.name))
        self._events.keep(
            db,
            NewEvent(
                agent=agent.id,
                agent_name=agent.name,
                audience=agent.source or USER_AUDIENCE,
                turn=turn.id,
                time=now,
                body=change,
            ),
        )
        return delivery_rows.of_turn(db, turn.id)

    def take_back(self, db: apsw.Connection, child: AgentId) -> None:
        """What has not been set aside or deleted so far stays, since its agent is there again."""
        for kind in (SET_ASIDE, DELETE_SCHEDULES):
            self._outbox.withdraw(db, kind=kind, key=child)


class SetAside:
    """Hands the log of an agent that is gone over to the memory, for good or until somebody restores it."""

    def __init__(self, memory: MemoryClient) -> None:
        self._memory = memory

    async def send(self, key: str, body: bytes) -> None:
        """Sets aside the log of the agent `key`; done twice, it is done once. Raises RemoteError."""
        names = json.loads(body)
        await self._memory.set_aside(
            AgentId(key),
            staged=AgentId(names["staged"]),
            kept=AgentId(names["kept"]),
            label=str(names["label"]),
        )


class DeleteSchedules:
    """Has the scheduler forget the schedules of an agent that is gone."""

    def __init__(self, scheduler: SchedulerClient) -> None:
        self._scheduler = scheduler

    async def send(self, key: str, body: bytes) -> None:
        """Deletes all schedules of the agent `key`; `body` is the request's id. Raises RemoteError."""
        await self._scheduler.remove_all(AgentId(key), request_id=body.decode())
