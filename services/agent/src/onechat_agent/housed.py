"""Agents of one role that have a folder: opened at each start, begun when they are new, waited for.

One is made in this order: a row `creating`, its log, its folder, the row `ready`; a start finishes what was
begun. What a role wants of its folders, and who is made: children.py, groups.py. What rows and folders come
to: domain/children.py. What is on disk: adapters/agent_folder.py. How one lives: lives.py. What follows when
one goes: departures.py. Times are seconds.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import StartRefused
from onechat_runtime.store import Store

from onechat_agent.adapters import agent_folder, agent_rows
from onechat_agent.adapters.agent_folder import SETTINGS_FILE, AgentFolder
from onechat_agent.config import AgentSettings
from onechat_agent.departures import Departures
from onechat_agent.domain.agent import Agent, AgentState, Role
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.children import Contradiction, Folder, Opening
from onechat_agent.fences import make_workdir
from onechat_agent.lives import Made
from onechat_agent.seat import Seat
from onechat_agent.seating import Seating

#: The rows of a role and those of all other agents → what is to be done. Raises Contradiction.
Plan = Callable[[list[Agent], list[Agent]], Opening]
#: A folder that is taken in and the row of that agent, if it was removed before → its row from now on.
Adopted = Callable[[Folder, Agent | None], Agent]

log = logs.get("onechat.agent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Housing:
    """What agents with a folder are opened with, whatever their role."""

    settings: AgentSettings
    store: Store
    clock: Clock
    seating: Seating
    departures: Departures
    root: AgentFolder
    live: Callable[[Seat, Made], None]  #: lets an agent live from now on, with what is made of it first

    def read(self, path: Path, missing: Callable[[AgentFolder], str]) -> AgentFolder:
        """The folder at `path`, and its working directory made.

        `missing` says which setting its role wants and it has not, "" for none. Raises StartRefused.
        """
        folder = agent_folder.read(path)
        if what := missing(folder):
            raise StartRefused(f"{path / SETTINGS_FILE} cannot be used: {what}. Mend it and start again.")
        make_workdir(self.settings, folder)
        return folder


class Housed:
    """All agents of one role."""

    def __init__(
        self,
        role: Role,
        housing: Housing,
        seat: Callable[[AgentFolder], Seat],
    ) -> None:
        """`seat` raises StartRefused."""
        self._role = role
        self._housing = housing
        self._store = housing.store
        self._clock = housing.clock
        self._seat = seat
        self._made: dict[AgentId, Made] = {}

    # ------------------------------------------------------------ at start

    async def open_all(self, folders: Mapping[str, AgentFolder], plan: Plan, adopted: Adopted) -> list[str]:
        """Opens every one, oldest first; their names. `folders`: by name, those that are there.

        Finishes, takes in and lets go what `plan` says. Raises StartRefused, and then has changed nothing.
        """
        opening = self._planned(plan)
        seats = {name: self._seat(folder) for name, folder in folders.items()}
        await self._carry_out(opening, adopted)
        rows = self._store.read(lambda db: agent_rows.of_role(db, self._role))
        for row in rows:
            folder = folders.get(row.name) or self._new_folder(row)
            self._enter(seats.get(row.name) or self._seat(folder), folder)
        names = [row.name for row in rows]
        log.info("agents_open", role=self._role, agents=names)
        return names

    def _planned(self, plan: Plan) -> Opening:
        def rows(db: apsw.Connection) -> tuple[list[Agent], list[Agent]]:
            return agent_rows.of_role(db, self._role), agent_rows.all_but(db, self._role)

        try:
            return plan(*self._store.read(rows))
        except Contradiction as wrong:
            agents = self._housing.settings.agents_folder
            raise StartRefused(f"{agents}/{wrong}. Nothing was changed.") from None

    async def _carry_out(self, opening: Opening, adopted: Adopted) -> None:
        departures = self._housing.departures
        for gone in opening.removed:
            await departures.remove(gone)
            log.warning("agent_removed", role=self._role, agent=gone.id)

        def job(db: apsw.Connection) -> None:
            # Two may have taken each other's names, which are unique at each moment.
            for known in opening.known:
                agent_rows.rename(db, known.id, f"{known.id}/")
            for known in opening.known:
                agent_rows.rename(db, known.id, known.name)
                if known.area:
                    agent_rows.set_area(db, known.id, known.area)
            for folder in opening.adopted:
                departures.take_back(db, folder.id)
                row = adopted(folder, agent_rows.agent(db, folder.id))
                agent_rows.adopt(db, row, self._clock.now())

        await self._store.write(job)
        for folder in opening.adopted:
            log.info("agent_adopted", role=self._role, agent=folder.id)

    # ------------------------------------------------------------ a new one

    def there(self, agent: AgentId) -> Agent | None:
        """Its row; None once it was removed."""
        row = self._store.read(lambda db: agent_rows.agent(db, agent))
        return None if row is None or row.state is AgentState.REMOVED else row

    def begin(self, agent: AgentId) -> None:
        """Lets it live as soon as its row is on disk, also where a stop has ended the call meanwhile.

        One that lives already stays as it is, and one that was removed does not begin.
        """
        row = self.there(agent)
        if row is not None and agent not in self._made:
            folder = self._new_folder(row)
            self._enter(self._seat(folder), folder)
            log.info("agent_created", role=self._role, agent=agent)

    async def ready_within(self, agent: AgentId, seconds: float) -> bool:
        """Whether it is ready after `seconds` at the latest; it goes on by itself. It has begun."""
        ready = self._made[agent].ready
        waits = [asyncio.ensure_future(ready.wait()), asyncio.ensure_future(self._clock.sleep(seconds))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        return ready.is_set()

    def _new_folder(self, row: Agent) -> AgentFolder:
        """What a folder that is still to be made will hold: the root's settings and what is its own."""
        root = self._housing.root
        return AgentFolder(
            path=self._housing.settings.agents_folder / row.name,
            id=row.id,
            area="" if row.source else row.area,  # a group's is its title, which may change
            source=row.source,
            model=root.model,
            effort=root.effort,
            workdir=root.workdir,
        )

    def _enter(self, seat: Seat, folder: AgentFolder) -> None:
        def make() -> None:
            agent_folder.make(
                self._housing.settings.agents_folder,
                folder.path.name,
                folder.id,
                area=folder.area,
                source=folder.source,
                like=folder,
            )

        made = self._made[seat.id] = Made(folder=make)
        self._housing.live(seat, made)
