"""The agents of this service: made, opened, and seen from outside. So far the root alone.

What is on disk of an agent: adapters/agent_folder.py. How one lives: loop.py.
"""

import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError, StartRefused, StoreFull
from onechat_runtime.request_ids import once
from onechat_runtime.store import Store

from onechat_agent import sentences
from onechat_agent.adapters import agent_folder, agent_rows, delivery_rows, turn_rows
from onechat_agent.adapters.agent_folder import AgentFolder
from onechat_agent.adapters.agent_rows import AgentRow, AgentState, Role
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.domain.chat import AgentId
from onechat_agent.errors import AgentUnknown
from onechat_agent.loop import AgentLoop
from onechat_agent.patience import Patience, committed
from onechat_agent.seat import Seat

REFUSED_PAUSE_S: Final = 10.0  # until a memory that refuses an agent's log is asked again

log = logs.get("onechat.agent")


async def open_root(store: Store, clock: Clock, agents: Path, name: str) -> AgentFolder:
    """The root's folder, made at the first start; it follows a changed name.

    Raises StartRefused when agents/ or the root's own folder is gone though the store knows the root: a mount
    that did not come up must not make everybody forgotten.
    """
    row = store.read(agent_rows.root)
    if row is None:
        row = await _make_root(store, clock, agents, name)
    path = agents / name
    if row.state is AgentState.READY and not (agents / row.name).is_dir() and not path.is_dir():
        raise StartRefused(
            f"{agents / row.name} is missing, though {row.name} was there before. Mount or restore the "
            "agents folder and start again; nothing was changed."
        )
    if row.name != name:
        await _rename(store, agents, row, name)
    if row.state is AgentState.CREATING:
        agent_folder.make(agents, name, row.id)
    folder = agent_folder.read(path)
    if folder.id != row.id:
        raise StartRefused(
            f"{path / agent_folder.SETTINGS_FILE} belongs to another store: its id is not {name}'s. "
            "Restore data and agents together."
        )
    return folder


async def _make_root(store: Store, clock: Clock, agents: Path, name: str) -> AgentRow:
    """The root's row; a whole folder that is there already gives it its id."""
    path = agents / name
    known = agent_folder.read(path).id if (path / agent_folder.SETTINGS_FILE).exists() else None
    row = AgentRow(
        id=known or AgentId(secrets.token_hex(8)), name=name, role=Role.ROOT, state=AgentState.CREATING
    )
    agent_folder.make_root(agents)
    await store.write(lambda db: agent_rows.add(db, row, clock.now()))
    return row


async def _rename(store: Store, agents: Path, row: AgentRow, name: str) -> None:
    """The folder first, then the row: killed between the two, the next start finds the folder renamed."""
    agent_folder.rename(agents, row.name, name, row.id)
    await store.write(lambda db: agent_rows.rename(db, row.id, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSeen:
    """An agent as clients see it."""

    id: AgentId
    name: str
    role: Role
    area: str
    model: str
    effort: str
    doing: str
    waiting: int  #: deliveries that are not done
    last_turn: datetime | None


class Agents:
    """The agents at work."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        memory: MemoryClient,
        patience: Patience,
        root: AgentId,
        loops: Mapping[AgentId, tuple[Seat, AgentLoop]],
    ) -> None:
        self._store = store
        self._clock = clock
        self._memory = memory
        self._patience = patience
        self._root = root
        self._loops = loops

    def background(self) -> list[Callable[[], Awaitable[None]]]:
        """What runs for each agent as long as the service does."""
        return [self._life(seat, loop) for seat, loop in self._loops.values()]

    def _life(self, seat: Seat, loop: AgentLoop) -> Callable[[], Awaitable[None]]:
        async def live() -> None:
            await self._make_log(seat)
            await committed(self._store, self._clock, lambda db: agent_rows.make_ready(db, seat.id))
            await loop.run()

        return live

    async def _make_log(self, seat: Seat) -> None:
        """Its log, also where the memory refuses it for a while: no restart of ours would mend that.

        Raises StartRefused where the memory holds another kind of log under its id.
        """
        while True:
            try:
                return await self._patience.get("log", lambda: self._memory.create_log(seat.id, seat.name))
            except RemoteError as error:
                log.error("log_refused", agent=seat.name, code=error.code.name, reason=error.reason)
                await self._clock.sleep(REFUSED_PAUSE_S)

    def all(self) -> list[AgentSeen]:
        """Every agent, the root first."""
        return [self._seen(agent) for agent in self._loops]

    def find(self, name: str) -> AgentSeen:
        """The agent of that name or id; empty is the root. Raises AgentUnknown."""
        return self._seen(self._id(name))

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

    async def stop(
        self, name: str, *, everybody: bool, before: datetime | None, request_id: str, body: bytes
    ) -> list[str]:
        """Ends turns that began before `before`, of one agent or of all; the names of the stopped.

        On disk when it answers: no restart takes such a turn up again. `before` None: what is at work now.
        The same `request_id` and `body` give the first answer and stop nothing. Raises AgentUnknown,
        KeyReused.
        """
        chosen = list(self._loops) if everybody else [self._id(name)]
        turns = {agent: turn for agent in chosen if (turn := self._loops[agent][1].turn_before(before))}
        names = [self._loops[agent][0].name for agent in turns]
        repeated = True

        def job(db: apsw.Connection) -> bytes:
            def answer() -> bytes:
                nonlocal repeated
                repeated = False
                for turn in turns.values():
                    if turn.id is not None:
                        turn_rows.ask_stop(db, turn.id, sentences.STOPPED)
                return json.dumps(names).encode()

            return once(db, request_id=request_id, body=body, now=self._clock.now(), answer=answer)

        try:
            stopped = await self._store.write(job)
        except StoreFull:  # it must work then too; its turn's end waits for space
            stopped, repeated = json.dumps(names).encode(), False
        if not repeated:
            for turn in turns.values():
                turn.stop()
        return list(json.loads(stopped))

    def _id(self, name: str) -> AgentId:
        if not name:
            return self._root
        for agent, (seat, _) in self._loops.items():
            if name in (agent, seat.name):
                return agent
        raise AgentUnknown()

    def _seen(self, agent: AgentId) -> AgentSeen:
        seat, loop = self._loops[agent]

        def job(db: apsw.Connection) -> tuple[int, datetime | None]:
            return delivery_rows.waiting(db, agent), turn_rows.last_time(db, agent)

        waiting, last_turn = self._store.read(job)
        return AgentSeen(
            id=agent,
            name=seat.name,
            role=Role.ROOT,
            area="",
            model=seat.model,
            effort=seat.effort,
            doing=loop.doing,
            waiting=waiting,
            last_turn=last_turn,
        )
