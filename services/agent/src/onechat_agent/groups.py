"""The agents of groups: made when a group is admitted, opened at each start, let go when their folder went.

Like a child, one is made in this order: a row `creating`, its log, its folder, the row `ready`; a start
finishes what was begun. What a group is to its agent: domain/groups.py. What rows and folders come to:
domain/children.py. How one lives: lives.py. What follows when one goes: departures.py. Times are seconds.
"""

import asyncio
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import StartRefused
from onechat_runtime.request_ids import once
from onechat_runtime.store import Store

from onechat_agent.adapters import agent_folder, agent_rows
from onechat_agent.adapters.agent_folder import SETTINGS_FILE, AgentFolder
from onechat_agent.config import AgentSettings
from onechat_agent.departures import Departures
from onechat_agent.domain.agent import Agent, AgentState, Role
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.children import Contradiction, Folder, Opening, opening
from onechat_agent.domain.groups import NewGroup, group_name, group_name_fault, is_group_name
from onechat_agent.fences import make_workdir
from onechat_agent.lives import Made
from onechat_agent.seat import Seat
from onechat_agent.seating import Seating

READY_WAIT_S: Final = 5.0  # how long a new one is waited for; it goes on by itself

log = logs.get("onechat.agent")


class Groups:
    """All agents of groups."""

    def __init__(
        self,
        *,
        settings: AgentSettings,
        store: Store,
        clock: Clock,
        seating: Seating,
        departures: Departures,
        root: AgentFolder,
        live: Callable[[Seat, Made], None],
    ) -> None:
        """`live` lets an agent live from now on, with what is to be made of it first."""
        self._settings = settings
        self._store = store
        self._clock = clock
        self._seating = seating
        self._departures = departures
        self._root = root
        self._live = live
        self._made: dict[AgentId, Made] = {}

    # ------------------------------------------------------------ at start

    async def open_all(self) -> list[str]:
        """Opens every one, oldest first; their names. Finishes, adopts and lets go what a start has to.

        Raises StartRefused, and changes nothing, for a folder that cannot be used or contradicts the rows.
        """
        paths = agent_folder.all_in(self._settings.agents_folder, is_group_name)
        folders = {path.name: self._read(path) for path in paths}
        plan = self._plan(folders)
        seats = {name: self._seating.group(folder) for name, folder in folders.items()}
        await self._carry_out(plan, folders)
        rows = self._store.read(lambda db: agent_rows.of_role(db, Role.GROUP))
        for row in rows:
            folder = folders.get(row.name) or self._new_folder(row)
            self._enter(seats.get(row.name) or self._seating.group(folder), folder)
        log.info("groups_open", groups=[row.name for row in rows])
        return [row.name for row in rows]

    def _read(self, path: Path) -> AgentFolder:
        folder = agent_folder.read(path)
        if not folder.source:
            raise StartRefused(
                f"{path / SETTINGS_FILE} cannot be used: source is missing, which names the group. "
                "Mend it and start again."
            )
        make_workdir(self._settings, folder)
        return folder

    def _plan(self, folders: dict[str, AgentFolder]) -> Opening:
        def read(db: apsw.Connection) -> tuple[list[Agent], list[Agent]]:
            return agent_rows.of_role(db, Role.GROUP), agent_rows.all_but(db, Role.GROUP)

        rows, others = self._store.read(read)
        found = [Folder(name=name, id=folder.id, area="") for name, folder in folders.items()]
        try:
            plan = opening(rows, others, found, fault=group_name_fault)
            self._want_own_sources(rows, folders)
        except Contradiction as wrong:
            raise StartRefused(f"{self._settings.agents_folder}/{wrong}. Nothing was changed.") from None
        return plan

    def _want_own_sources(self, rows: list[Agent], folders: dict[str, AgentFolder]) -> None:
        """A group has one agent, and an agent keeps its group."""
        sources = {row.id: row.source for row in rows}
        holders = {row.source: row.name for row in rows if row.id not in {one.id for one in folders.values()}}
        for name, folder in folders.items():
            if sources.get(folder.id, folder.source) != folder.source:
                raise Contradiction(f"{name} names another group than it had. Put the old source back")
            if holders.setdefault(folder.source, name) != name:
                holder = holders[folder.source]
                raise Contradiction(f"{name} is of the same group as {holder}. Take one of them away")

    async def _carry_out(self, plan: Opening, folders: dict[str, AgentFolder]) -> None:
        for gone in plan.removed:
            await self._departures.remove(gone)
            log.warning("group_agent_removed", agent=gone.id)

        def job(db: apsw.Connection) -> None:
            for known in plan.known:
                agent_rows.rename(db, known.id, f"{known.id}/")
            for known in plan.known:
                agent_rows.rename(db, known.id, known.name)
            for adopted in plan.adopted:
                self._departures.take_back(db, adopted.id)
                before = agent_rows.agent(db, adopted.id)
                title = before.area if before else ""
                row = _creating(adopted.id, adopted.name, folders[adopted.name].source, title)
                agent_rows.adopt(db, row, self._clock.now())

        await self._store.write(job)

    # ------------------------------------------------------------ a new group

    async def create(self, new: NewGroup, *, request_id: str, body: bytes) -> AgentId:
        """The agent of the group, made if there is none; a new title is taken over.

        One that is not ready after a while gets ready by itself. Raises StoreFull, KeyReused, BadRequestId.
        """

        def job(db: apsw.Connection) -> bytes:
            def answer() -> bytes:
                known = agent_rows.of_source(db, new.source)
                if known is not None:
                    agent_rows.set_area(db, known.id, new.title)
                    return known.id.encode()
                agent = AgentId(secrets.token_hex(8))
                row = _creating(agent, self._free_name(db), new.source, new.title)
                agent_rows.add(db, row, self._clock.now())
                self._store.when_committed(lambda: self._begin(agent))
                return agent.encode()

            return once(db, request_id=request_id, body=body, now=self._clock.now(), answer=answer)

        agent = AgentId((await self._store.write(job)).decode())
        self._begin(agent)
        if agent in self._made:
            await self._ready_within(self._made[agent], READY_WAIT_S)
        return agent

    def _free_name(self, db: apsw.Connection) -> str:
        """The next number that no agent had, and that no folder has, be it whosever."""
        number = 1
        while (
            agent_rows.name_was_given(db, group_name(number))
            or (self._settings.agents_folder / group_name(number)).exists()
        ):
            number += 1
        return group_name(number)

    def _begin(self, agent: AgentId) -> None:
        """Lets it live as soon as its row is on disk; one that lives already stays as it is."""
        row = self._store.read(lambda db: agent_rows.agent(db, agent))
        if row is not None and row.state is not AgentState.REMOVED and agent not in self._made:
            folder = self._new_folder(row)
            self._enter(self._seating.group(folder), folder)
            log.info("group_agent_created", agent=agent)

    def _new_folder(self, row: Agent) -> AgentFolder:
        """What a folder that is still to be made will hold: the root's model and effort, its own source."""
        return AgentFolder(
            path=self._settings.agents_folder / row.name,
            id=row.id,
            source=row.source,
            model=self._root.model,
            effort=self._root.effort,
            workdir=self._root.workdir,
        )

    def _enter(self, seat: Seat, folder: AgentFolder) -> None:
        def make() -> None:
            agent_folder.make(
                self._settings.agents_folder, folder.path.name, folder.id, source=folder.source, like=folder
            )

        made = self._made[seat.id] = Made(folder=make)
        self._live(seat, made)

    async def _ready_within(self, made: Made, seconds: float) -> None:
        waits = [asyncio.ensure_future(made.ready.wait()), asyncio.ensure_future(self._clock.sleep(seconds))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()


def _creating(agent: AgentId, name: str, source: str, title: str) -> Agent:
    return Agent(id=agent, name=name, role=Role.GROUP, state=AgentState.CREATING, area=title, source=source)
