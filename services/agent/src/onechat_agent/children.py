"""The root's children: made by it, opened at each start, let go when their folder was taken away.

What they share with groups' agents: housed.py. What comes of making one: domain/children.py. Times are
seconds.
"""

import secrets
from typing import Final

import apsw
from onechat_runtime.request_ids import once

from onechat_agent.adapters import agent_folder, agent_rows
from onechat_agent.adapters.agent_folder import AgentFolder
from onechat_agent.domain.agent import AREA_MAX, CHILDREN_MAX, Agent, AgentState, Role, name_fault
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.children import ChildRefused, Folder, NewChild, Opening, opening
from onechat_agent.domain.text import plain_line
from onechat_agent.housed import Housed, Housing

READY_WAIT_S: Final = 10.0  # how long a new child is waited for; it goes on by itself


class Children:
    """All children of the root."""

    def __init__(self, housing: Housing) -> None:
        self._agents = housing.settings.agents_folder
        self._root = housing.root
        self._root_name = housing.settings.name
        self._housing = housing
        self._store = housing.store
        self._clock = housing.clock
        self._housed = Housed(
            Role.CHILD,
            housing,
            seat=lambda folder: housing.seating.child(folder, self._root.id),
        )

    async def open_all(self) -> list[str]:
        """Opens every child, oldest first; their names. Finishes, adopts and lets go what a start has to.

        Raises StartRefused, and changes nothing, for a folder that cannot be used or contradicts the rows.
        """
        paths = [path for path in agent_folder.all_in(self._agents) if path.name != self._root.path.name]
        folders = {path.name: self._housing.read(path, _missing) for path in paths}
        found = [Folder(name=name, id=folder.id, area=folder.area) for name, folder in folders.items()]

        def plan(rows: list[Agent], others: list[Agent]) -> Opening:
            return opening(rows, others, found, agent_folder.astray(self._agents))

        def adopted(folder: Folder, before: Agent | None) -> Agent:
            return self._creating(folder.id, folder.name, folder.area)

        return await self._housed.open_all(folders, plan, adopted)

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
                self._store.when_committed(lambda: self._housed.begin(row.id))
                return row.id.encode()

            return once(db, request_id=request_id, body=body, now=self._clock.now(), answer=answer)

        child = AgentId((await self._store.write(job)).decode())
        self._housed.begin(child)
        row = self._housed.there(child)
        if row is None:
            raise ChildRefused(f"{name} was made and has been removed since.")
        ready = await self._housed.ready_within(child, READY_WAIT_S)
        return NewChild(id=child, name=row.name, ready=ready)

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
        if other is not None or name.casefold() == self._root_name.casefold():
            raise ChildRefused(f"The name {name} is taken. Choose another one.")
        if len(agent_rows.of_role(db, Role.CHILD)) >= CHILDREN_MAX:
            raise ChildRefused(f"There are {CHILDREN_MAX} children already, and there can be no more.")
        if (self._agents / name).exists():
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


def _missing(folder: AgentFolder) -> str:
    if folder.area.strip():
        return ""
    return f"area is missing, a line on what {folder.path.name} is responsible for"
