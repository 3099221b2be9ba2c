"""The root's children: made by it, opened at each start, let go when their folder was taken away.

A child is made in this order: a row `creating`, its log, its folder, the row `ready`; a start finishes what
was begun. What rows and folders come to: domain/children.py. What is on disk: adapters/agent_folder.py. How
one lives: lives.py. What follows when one goes: departures.py. Times are seconds.
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
from onechat_agent.domain.agent import AREA_MAX, CHILDREN_MAX, Agent, AgentState, Role, name_fault
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.children import ChildRefused, Contradiction, Folder, NewChild, Opening, opening
from onechat_agent.domain.text import plain_line
from onechat_agent.fences import make_workdir
from onechat_agent.lives import Made
from onechat_agent.seat import Seat
from onechat_agent.seating import Seating

READY_WAIT_S: Final = 10.0  # how long a new child is waited for; it goes on by itself

log = logs.get("onechat.agent")


class Children:
    """All children of the root."""

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

    async def open_all(self) -> list[str]:
        """Opens every child, oldest first; their names. Finishes, adopts and lets go what a start has to.

        Raises StartRefused, and changes nothing, for a folder that cannot be used or contradicts the rows.
        """
        agents = self._settings.agents_folder
        paths = [path for path in agent_folder.all_in(agents) if path.name != self._root.path.name]
        folders = {path.name: self._read(path) for path in paths}
        plan = self._plan(list(folders.values()))
        seats = {name: self._seating.child(folder, self._root.id) for name, folder in folders.items()}
        await self._carry_out(plan)
        for row in self._store.read(lambda db: agent_rows.of_role(db, Role.CHILD)):
            folder = folders.get(row.name) or self._new_folder(row)
            self._enter(seats.get(row.name) or self._seating.child(folder, self._root.id), folder)
        names = [row.name for row in self._store.read(lambda db: agent_rows.of_role(db, Role.CHILD))]
        log.info("children_open", children=names)
        return names

    def _read(self, path: Path) -> AgentFolder:
        folder = agent_folder.read(path)
        if not folder.area.strip():
            raise StartRefused(
                f"{path / SETTINGS_FILE} cannot be used: area is missing, a line on what {path.name} is "
                "responsible for. Mend it and start again."
            )
        make_workdir(self._settings, folder)
        return folder

    def _plan(self, folders: list[AgentFolder]) -> Opening:
        found = [Folder(name=folder.path.name, id=folder.id, area=folder.area) for folder in folders]

        def rows(db: apsw.Connection) -> tuple[list[Agent], list[Agent]]:
            return agent_rows.of_role(db, Role.CHILD), agent_rows.all_but(db, Role.CHILD)

        children, others = self._store.read(rows)
        try:
            return opening(children, others, found, agent_folder.astray(self._settings.agents_folder))
        except Contradiction as wrong:
            raise StartRefused(f"{self._settings.agents_folder}/{wrong}. Nothing was changed.") from None

    async def _carry_out(self, plan: Opening) -> None:
        for gone in plan.removed:
            await self._departures.remove(gone)
            log.warning("child_removed", agent=gone.id)

        def job(db: apsw.Connection) -> None:
            # Two children may have taken each other's names, which are unique at each moment.
            for known in plan.known:
                agent_rows.rename(db, known.id, f"{known.id}/")
            for known in plan.known:
                agent_rows.rename(db, known.id, known.name)
                agent_rows.set_area(db, known.id, known.area)
            for adopted in plan.adopted:
                self._departures.take_back(db, adopted.id)
                agent_rows.adopt(
                    db, self._creating(adopted.id, adopted.name, adopted.area), self._clock.now()
                )

        await self._store.write(job)
        for adopted in plan.adopted:
            log.info("child_adopted", agent=adopted.id)

    async def create(self, name: str, area: str, *, request_id: str) -> NewChild:
        """Makes a child that starts at once, with the root's model, effort and working directory.

        The same `request_id` gives the same child. One that is not ready after a while gets ready by itself.
        Raises ChildRefused, StoreFull, KeyReused.
        """
        area = plain_line(area)
        if (why := self._fault(name, area)) is not None:
            raise ChildRefused(why)
        body = f"agent_create\0{name}\0{area}".encode()

        def job(db: apsw.Connection) -> bytes:
            def answer() -> bytes:
                self._want_free(db, name)
                row = self._creating(AgentId(secrets.token_hex(8)), name, area)
                agent_rows.add(db, row, self._clock.now())
                self._store.when_committed(lambda: self._begin(row.id))
                return row.id.encode()

            return once(db, request_id=request_id, body=body, now=self._clock.now(), answer=answer)

        child = AgentId((await self._store.write(job)).decode())
        self._begin(child)
        row = self._there(child)
        if row is None:
            raise ChildRefused(f"{name} was made and has been removed since.")
        ready = await self._ready_within(self._made[child], READY_WAIT_S)
        return NewChild(id=child, name=row.name, ready=ready)

    def _begin(self, child: AgentId) -> None:
        """Lets a child live as soon as its row is on disk, also where a stop has ended the call meanwhile.

        One that lives already stays as it is.
        """
        row = self._there(child)
        if row is not None and child not in self._made:
            folder = self._new_folder(row)
            self._enter(self._seating.child(folder, self._root.id), folder)
            log.info("child_created", agent=child)

    def _there(self, child: AgentId) -> Agent | None:
        row = self._store.read(lambda db: agent_rows.agent(db, child))
        return None if row is None or row.state is AgentState.REMOVED else row

    def _fault(self, name: str, area: str) -> str | None:
        if (why := name_fault(name)) is not None:
            return why
        if not area:
            return "The responsibility is empty: say what the child is there for."
        if len(area) > AREA_MAX:
            return f"The responsibility has {len(area):,} characters; at most {AREA_MAX:,} are taken."
        return None

    def _want_free(self, db: apsw.Connection, name: str) -> None:
        other = agent_rows.named(db, name)
        if other is not None or name.casefold() == self._settings.name.casefold():
            raise ChildRefused(f"The name {name} is taken. Choose another one.")
        if len(agent_rows.of_role(db, Role.CHILD)) >= CHILDREN_MAX:
            raise ChildRefused(f"There are {CHILDREN_MAX} children already, and there can be no more.")
        if (self._settings.agents_folder / name).exists():
            raise ChildRefused(
                f"A folder {name} lies among the agents' already. It becomes a child at the next start; "
                "choose another name, or leave it to that."
            )

    def _creating(self, agent: AgentId, name: str, area: str) -> Agent:
        return Agent(
            id=agent,
            name=name,
            role=Role.CHILD,
            state=AgentState.CREATING,
            parent=self._root.id,
            area=area,
        )

    def _new_folder(self, row: Agent) -> AgentFolder:
        """What a folder that is still to be made will hold: the root's settings, its own id and area."""
        path = self._settings.agents_folder / row.name
        return AgentFolder(
            path=path,
            id=row.id,
            area=row.area,
            model=self._root.model,
            effort=self._root.effort,
            workdir=self._root.workdir,
        )

    def _enter(self, seat: Seat, folder: AgentFolder) -> None:
        def make() -> None:
            agent_folder.make(
                self._settings.agents_folder, folder.path.name, folder.id, area=folder.area, like=folder
            )

        made = self._made[seat.id] = Made(folder=make)
        self._live(seat, made)

    async def _ready_within(self, made: Made, seconds: float) -> bool:
        waits = [asyncio.ensure_future(made.ready.wait()), asyncio.ensure_future(self._clock.sleep(seconds))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        return made.ready.is_set()
