"""Who is at work: every agent that is open, each with its seat, its loop and its life.

Agents come and go while the service runs: children.py and subagents.py let them in. How one lives: lives.py
and loop.py. What is on disk of one: adapters/agent_folder.py and adapters/agent_rows.py.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import TypeVar

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError
from onechat_runtime.store import Store

from onechat_agent.adapters import agent_rows, delivery_rows, turn_rows
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.domain.agent import Agent, AgentState, Role
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.roster import AgentSeen, LastTurn, roster
from onechat_agent.errors import AgentUnknown
from onechat_agent.loop import AgentLoop
from onechat_agent.seat import Seat
from onechat_agent.turn import TurnAtWork

T = TypeVar("T")
Life = Callable[[], Awaitable[None]]
"""What an agent does as long as it is there; when it returns, the agent leaves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    seat: Seat
    loop: AgentLoop
    live: Life


class Agents:
    """The agents at work. Used in the event loop's thread."""

    def __init__(self, store: Store, clock: Clock, memory: MemoryClient, root: AgentId) -> None:
        self._store = store
        self._clock = clock
        self._memory = memory
        self._root = root
        self._members: dict[AgentId, _Member] = {}
        self._seats: dict[AgentId, Seat] = {}
        self._lives: asyncio.TaskGroup | None = None

    @property
    def seats(self) -> Mapping[AgentId, Seat]:
        """The seat of each agent that is open; it follows who comes and goes."""
        return MappingProxyType(self._seats)

    def enter(self, seat: Seat, loop: AgentLoop, live: Life) -> None:
        """The agent is there from now on, and lives until its life returns. One that is there stays."""
        if seat.id in self._members:
            return
        member = self._members[seat.id] = _Member(seat=seat, loop=loop, live=live)
        self._seats[seat.id] = seat
        if self._lives is not None:
            self._lives.create_task(self._life(member))

    async def run(self) -> None:
        """Lets everybody live until cancelled; a life that fails ends the service."""
        async with asyncio.TaskGroup() as lives:
            for member in tuple(self._members.values()):
                lives.create_task(self._life(member))
            self._lives = lives
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                self._lives = None

    async def _life(self, member: _Member) -> None:
        await member.live()
        if self._members.get(member.seat.id) is member:
            del self._members[member.seat.id], self._seats[member.seat.id]

    def all(self) -> list[AgentSeen]:
        """Every open agent, the root first, each child before its subagents."""
        return [self._seen(agent) for agent in self._in_order()]

    def roster(self) -> str:
        """All of them for people, a line each."""
        return roster(self.all(), self._clock.now())

    def find(self, name: str) -> AgentSeen:
        """The open agent of that name or id; empty is the root. Raises AgentUnknown."""
        agent = self.id_of(name)
        if agent not in self._members:
            raise AgentUnknown()
        return self._seen(agent)

    def id_of(self, name: str) -> AgentId:
        """The agent of that name or id, a subagent that is done too; empty: the root. Raises AgentUnknown."""
        if not name:
            return self._root

        def named(db: apsw.Connection) -> Agent | None:
            return agent_rows.agent(db, AgentId(name)) or agent_rows.named(db, name)

        found = self._store.read(named)
        if found is None or found.state is AgentState.REMOVED:
            raise AgentUnknown()
        return found.id

    async def between_turns(self, agent: AgentId, reason: str, act: Callable[[], Awaitable[T]]) -> T:
        """Runs `act` while the agent writes nothing into its log; its turn at work is stopped for it.

        Raises AgentUnknown for one that is not open.
        """
        member = self._members.get(agent)
        if member is None:
            raise AgentUnknown()
        return await member.loop.between_turns(reason, act)

    def turns_before(self, before: datetime | None, *, of: AgentId | None) -> dict[AgentId, TurnAtWork]:
        """Turns at work that began before `before` (None: that are now), of the agent `of` or of all."""
        chosen = [one for agent, one in self._members.items() if of in (None, agent)]
        turns = {one.seat.id: one.loop.turn_before(before) for one in chosen}
        return {agent: turn for agent, turn in turns.items() if turn is not None}

    async def messages(self, agent: AgentId) -> tuple[int, int]:
        """(messages in the agent's log, its generation); zeros while it is still to be made.

        Raises RemoteError.
        """
        try:
            return await self._memory.length(agent)
        except RemoteError as error:
            if error.reason != "LOG_UNKNOWN":
                raise
            return 0, 0

    def _in_order(self) -> list[AgentId]:
        def below(parent: AgentId) -> list[AgentId]:
            return [one for one, seat in self._seats.items() if seat.parent == parent]

        tops = [one for one, seat in self._seats.items() if seat.parent is None or seat.role is Role.CHILD]
        tops.sort(key=lambda one: one != self._root)
        ordered: list[AgentId] = []
        for top in tops:
            ordered += [top, *(one for one in below(top) if one not in tops)]
        return ordered

    def _seen(self, agent: AgentId) -> AgentSeen:
        member = self._members[agent]
        seat = member.seat

        def job(db: apsw.Connection) -> tuple[int, LastTurn | None, Agent | None]:
            return delivery_rows.waiting(db, agent), turn_rows.last(db, agent), agent_rows.agent(db, agent)

        waiting, last_turn, row = self._store.read(job)
        title = row.area if row is not None and seat.role is Role.GROUP else None  # it may have changed since
        return AgentSeen(
            id=agent,
            name=seat.name,
            role=seat.role,
            area=seat.area if title is None else title,
            model=seat.model,
            effort=seat.effort,
            doing=member.loop.doing,
            waiting=waiting,
            last_turn=last_turn,
        )
