"""Subagents: made by a spawn, at work until their tasks are done, and again when more is said to them.

Only so many work at once (places.py); more wait in line. One that is done leaves, and a delivery lets it in
again. States are rows (subagent_states.py), so that a restart goes on with those that are not done. A turn:
turn.py; a subagent's own log: own_log.py. How they are stopped: subagent_stops.py.
"""

import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError
from onechat_runtime.store import Store

from onechat_agent import sentences, subagent_states
from onechat_agent.adapters import agent_rows, delivery_rows, turn_rows
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.agents import Agents
from onechat_agent.domain.agent import Agent, AgentState, Role
from onechat_agent.domain.between import report, told
from onechat_agent.domain.chat import AgentId, Kind, NewMessage
from onechat_agent.domain.delivery import TurnId
from onechat_agent.domain.keys import NOTE_KEY, task_key
from onechat_agent.domain.text import one_line
from onechat_agent.domain.turn import TurnState
from onechat_agent.loop import AgentLoop
from onechat_agent.patience import Patience, committed
from onechat_agent.places import Places
from onechat_agent.prompts.subagent import opening_note
from onechat_agent.queue import Queue
from onechat_agent.seat import Seat
from onechat_agent.seating import Seating
from onechat_agent.tools.tool import CallContext

log = logs.get("onechat.agent")

IN_LINE: Final = "waiting for a free place"  # for people


@dataclass(frozen=True, slots=True, kw_only=True)
class Spawned:
    """What became of a spawn."""

    names: tuple[str, ...]  #: in the order of the tasks
    in_line: tuple[str, ...]  #: those of them that wait for a place


@dataclass(slots=True, kw_only=True)
class OpenSubagent:
    """One that has work to do."""

    seat: Seat
    loop: AgentLoop
    news: bool = False  #: whether something has come for it since this was last cleared


class Subagents:
    """All agents' subagents; belongs to one event loop."""

    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        memory: MemoryClient,
        patience: Patience,
        queue: Queue,
        agents: Agents,
        seating: Seating,
        loop_of: Callable[[Seat], AgentLoop],
        places: int,
    ) -> None:
        """`places`: how many work at once."""
        self._store = store
        self._clock = clock
        self._memory = memory
        self._patience = patience
        self._queue = queue
        self._agents = agents
        self._seating = seating
        self._loop_of = loop_of
        self.places = Places(places)
        self.open: dict[AgentId, OpenSubagent] = {}  #: those with work to do, in the order of their coming
        queue.on_news.append(self.wake)

    # ------------------------------------------------------------ who comes

    def open_unfinished(self) -> None:
        """At start, once their owners are there: whoever is not done, or has something queued, goes on."""
        for agent in self._store.read(agent_rows.subagents_with_work):
            self._enter(agent)

    def wake(self, agent: AgentId) -> None:
        """Something has come for `agent`: a subagent that was done goes to work again. Others are let be."""
        there = self.open.get(agent)
        if there is not None:
            there.news = True
        elif agent not in self._agents.seats:
            row = self._store.read(lambda db: agent_rows.agent(db, agent))
            if row is not None and row.role is Role.SUBAGENT and row.state is not AgentState.REMOVED:
                self._enter(row)

    async def spawn(self, context: CallContext, tasks: Sequence[str], effort: str | None) -> Spawned:
        """A subagent of the calling agent for each task, on disk when it answers; the same call spawns once.

        `effort` None: the owner's. Backing and taint of the call's turn are handed on.
        """
        ids = [AgentId(secrets.token_hex(8)) for _ in tasks]

        def job(db: apsw.Connection) -> list[Agent]:
            if turn_rows.is_stopping(db, context.turn):
                return []  # the stop has found all that there was
            return [
                self._spawn_one(db, context, task, effort or "", task_key(context.call_key, number), new_id)
                for number, (task, new_id) in enumerate(zip(tasks, ids, strict=True), start=1)
            ]

        spawned = await committed(self._store, self._clock, job)
        line = [agent for agent in self.open if agent not in self.places]
        return Spawned(
            names=tuple(agent.name for agent in spawned),
            in_line=tuple(agent.name for agent in spawned if self._will_wait(agent.id, line)),
        )

    def _will_wait(self, agent: AgentId, line: Sequence[AgentId]) -> bool:
        """Whether `agent` is further back among those without a place than there are places free."""
        return agent in line and line.index(agent) >= self.places.free

    def _spawn_one(
        self,
        db: apsw.Connection,
        context: CallContext,
        task: str,
        effort: str,
        key: str,
        new_id: AgentId,
    ) -> Agent:
        known = delivery_rows.known(db, key)
        if known is not None:
            there = agent_rows.agent(db, known[0].agent)
            assert there is not None
            return there
        new = Agent(
            id=new_id,
            name=subagent_states.free_name(db, context.agent, context.agent_name),
            role=Role.SUBAGENT,
            state=AgentState.WAITING,
            parent=context.agent,
            area=one_line(task),
            effort=effort,
        )
        agent_rows.add(db, new, self._clock.now())
        delivery = told(
            key=key,
            sender=context.agent,
            to=new_id,
            text=task,
            backed=context.backed,
            tainted=context.tainted,
            hops=context.hops,
        )
        self._queue.add_own(db, delivery, self._clock.now())
        return new

    # ------------------------------------------------------------ how one lives

    def _enter(self, agent: Agent) -> None:
        owner = self._agents.seats.get(agent.parent) if agent.parent else None
        if owner is None or agent.id in self.open:
            return
        seat = self._seating.subagent(agent, owner)
        there = OpenSubagent(seat=seat, loop=self._loop_of(seat))
        self.open[agent.id] = there
        self._agents.enter(seat, there.loop, self._life(there))

    def _life(self, there: OpenSubagent) -> Callable[[], Awaitable[None]]:
        async def live() -> None:
            seat = there.seat
            try:
                await self._work(there)
            except Exception as error:  # noqa: BLE001 - one subagent's fault is nobody else's
                log.error("subagent_broke", agent=seat.name, stack=logs.stack_of(error))
                await committed(self._store, self._clock, partial(self._give_up, seat=seat))
            finally:
                self.places.leave(seat.id)
                del self.open[seat.id]

        return live

    async def _work(self, there: OpenSubagent) -> None:
        """Works until nothing is left to do and nothing has come meanwhile."""
        seat, loop = there.seat, there.loop
        rested = False
        while not rested or there.news:
            loop.resting = IN_LINE
            if not self.places.free and seat.id not in self.places:
                await committed(
                    self._store, self._clock, partial(subagent_states.stand_in_line, agent=seat.id)
                )
            await self.places.take(seat.id)
            loop.resting = "idle"
            await committed(self._store, self._clock, partial(subagent_states.begin, agent=seat.id))
            await self._make_log(seat)
            await loop.run_until_idle()
            there.news = False  # what comes from here on is seen by the next commit, or sets it again
            rested = await committed(self._store, self._clock, partial(subagent_states.rest, agent=seat.id))
        log.info("subagent_done", agent=seat.name)

    async def _make_log(self, seat: Seat) -> None:
        """Its flat log, which begins with a note on what it is; one that is there stays as it is."""
        owner = seat.view_of.name
        note = NewMessage(
            key=NOTE_KEY, kind=Kind.NOTE, text=opening_note(seat.name, owner), time=self._clock.now()
        )
        await self._patience.get("log", lambda: self._memory.create_log(seat.id, seat.name, flat=True))
        try:
            await self._patience.get("log", lambda: self._memory.append(seat.id, [note]))
        except RemoteError as error:
            if error.reason != "KEY_REUSED":  # its owner had another name when it was made
                raise

    def _give_up(self, db: apsw.Connection, seat: Seat) -> None:
        """It could not even begin, or go on: what it was told is done with, and its owner is told so."""
        told = delivery_rows.queued(db, seat.id)
        turn = turn_rows.at_work(db, seat.id)
        if turn is not None:  # else each start would take it up and fail of it again
            told += delivery_rows.of_turn(db, turn.id)
            turn_rows.end(db, turn.id, TurnState.FAILED, self._clock.now())
        delivery_rows.finish(db, told)
        agent_rows.set_state(db, seat.id, AgentState.FAILED)
        failure = report(
            TurnId(secrets.token_hex(8)),
            sender=seat.id,
            name=seat.name,
            to=seat.view_of.id,
            text=sentences.OWN_FAULT,
            hops=max((one.hops for one in told), default=0),
        )
        self._queue.add_own(db, failure, self._clock.now())
