"""Stops: an agent with its subagents, or everybody, on disk before they are carried out. Times are UTC.

A stop ends what began before it was given and nothing else. What a subagent's stop takes with it:
subagent_stops.py. How a turn ends by one: turn_ends.py.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.errors import StoreFull
from onechat_runtime.request_ids import once
from onechat_runtime.store import Store

from onechat_agent import sentences
from onechat_agent.adapters import agent_rows, delivery_rows, turn_rows
from onechat_agent.agents import Agents
from onechat_agent.domain.agent import Role
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import Delivery
from onechat_agent.proposal_runs import ProposalRuns, RunStop
from onechat_agent.subagent_stops import SubagentStop, stop_of
from onechat_agent.subagents import Subagents
from onechat_agent.turn import TurnAtWork


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stop:
    """A stop, found and still to be written and carried out."""

    names: list[str]  #: whom it stops, each agent before its subagents
    turns: Mapping[AgentId, TurnAtWork]  #: of agents with a tree
    unbegun: list[Delivery]  #: what those of them would take that have no row yet
    people: SubagentStop
    runs: RunStop  #: of what the user had said yes to

    def write(self, db: apsw.Connection) -> None:
        """From this commit on these turns can only end as stopped, and those without a row never begin."""
        delivery_rows.wake_no_more(db, self.unbegun)
        for turn in self.turns.values():
            if turn.id is not None:
                turn_rows.ask_stop(db, turn.id, sentences.STOPPED)
        self.people.write(db)
        self.runs.write(db)

    def carry_out(self, store: Store) -> None:
        """Ends what is at work."""
        for turn in self.turns.values():
            turn.stop()
        self.people.carry_out(store)
        self.runs.carry_out()


class Stops:
    """Stops agents; belongs to one event loop."""

    def __init__(
        self, store: Store, clock: Clock, agents: Agents, subagents: Subagents, runs: ProposalRuns
    ) -> None:
        self._store = store
        self._clock = clock
        self._agents = agents
        self._subagents = subagents
        self._runs = runs

    async def stop(
        self, name: str, *, everybody: bool, before: datetime | None, request_id: str, body: bytes
    ) -> list[str]:
        """Ends what began before `before`: of one agent and its subagents, or of all; names of the stopped.

        On disk when it answers: no restart takes it up again. `before` None: what is there now. The same
        `request_id` and `body` give the first answer and stop nothing. It goes on when the caller is
        cancelled. Raises AgentUnknown, KeyReused.
        """
        whom = None if everybody else self._agents.id_of(name)
        return await asyncio.shield(self._stop(whom, before, request_id=request_id, body=body))

    async def _stop(
        self, whom: AgentId | None, before: datetime | None, *, request_id: str, body: bytes
    ) -> list[str]:
        given = before or self._clock.now()
        stop = self._found(whom, before)
        repeated = True

        def job(db: apsw.Connection) -> bytes:
            def answer() -> bytes:
                nonlocal repeated
                repeated = False
                stop.write(db)
                _quieten(db, whom, before)
                return json.dumps(stop.names).encode()

            return once(db, request_id=request_id, body=body, now=self._clock.now(), answer=answer)

        try:
            stopped = await self._store.write(job)
        except StoreFull:  # what is at work must end then too; its turns' ends wait for space
            stop.carry_out(self._store)
            return stop.names
        if repeated:
            return list(json.loads(stopped))
        stop.carry_out(self._store)
        return [*json.loads(stopped), *await self._latecomers(stop, whom, given)]

    async def _latecomers(self, stop: _Stop, whom: AgentId | None, given: datetime) -> list[str]:
        """Stops the subagents that had just been spawned and came while the stop was on its way to disk."""
        late = self._people(stop.turns, whom, given).without(stop.people)
        if late.chosen:
            await self._store.write(late.write)
            late.carry_out(self._store)
        return late.names

    def _found(self, whom: AgentId | None, before: datetime | None) -> _Stop:
        seats = self._agents.seats
        turns = {
            agent: turn
            for agent, turn in self._agents.turns_before(before, of=whom).items()
            if seats[agent].role is not Role.SUBAGENT
        }
        people = self._people(turns, whom, before)
        runs = self._runs.stop_of(None if whom is None else self._house_of(whom), before=before)
        names = [seats[agent].name for agent in turns] + people.names
        asked = self._store.read(lambda db: [agent_rows.name_of(db, agent) for agent in runs.agents])
        names += [name for name in asked if name not in names]
        unbegun = [one for turn in turns.values() if turn.id is None for one in turn.deliveries]
        return _Stop(names=names, turns=turns, unbegun=unbegun, people=people, runs=runs)

    def _people(
        self, turns: Mapping[AgentId, TurnAtWork], whom: AgentId | None, before: datetime | None
    ) -> SubagentStop:
        """Whom a stop of `whom` stops of the subagents, with those that the stopped `turns` set to work."""
        ids = {turn.id for turn in turns.values() if turn.id is not None}
        return stop_of(self._subagents, self._store, whom, before=before, with_turns=ids)

    def _house_of(self, agent: AgentId) -> set[AgentId]:
        """The agent and its subagents, those that are done too."""
        return {
            agent,
            *self._store.read(
                lambda db: [one.id for one in agent_rows.of_role(db, Role.SUBAGENT, parent=agent)]
            ),
        }


def _quieten(db: apsw.Connection, whom: AgentId | None, before: datetime | None) -> None:
    """What subagents of a stopped agent have told it by `before` (None: now) is logged and wakes it no more.

    Where everybody is stopped, so is what any agent has told another.
    """
    for agent in agent_rows.all_but(db, Role.SUBAGENT):
        if whom in (None, agent.id):
            delivery_rows.quieten_agents(db, agent.id, before, everybody=whom is None)
