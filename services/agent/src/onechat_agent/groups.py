"""The agents of groups: made when a group is admitted, opened at each start, let go when their folder went.

What they share with the root's children: housed.py. What a group is to its agent: domain/groups.py. Times are
seconds.
"""

import secrets
from collections.abc import Mapping
from typing import Final

import apsw
from onechat_runtime.request_ids import once

from onechat_agent.adapters import agent_folder, agent_rows
from onechat_agent.adapters.agent_folder import AgentFolder
from onechat_agent.domain.agent import Agent, AgentState, Role
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.children import Contradiction, Folder, Opening, opening
from onechat_agent.domain.groups import NewGroup, group_name, group_name_fault, is_group_name
from onechat_agent.housed import Housed, Housing

READY_WAIT_S: Final = 5.0  # how long a new one is waited for; it goes on by itself


class Groups:
    """All agents of groups."""

    def __init__(self, housing: Housing) -> None:
        self._agents = housing.settings.agents_folder
        self._housing = housing
        self._store = housing.store
        self._clock = housing.clock
        self._housed = Housed(Role.GROUP, housing, seat=housing.seating.group)

    async def open_all(self) -> list[str]:
        """Opens every one, oldest first; their names. Finishes, adopts and lets go what a start has to.

        Raises StartRefused, and changes nothing, for a folder that cannot be used or contradicts the rows.
        """
        paths = agent_folder.all_in(self._agents, is_group_name)
        folders = {path.name: self._housing.read(path, _missing) for path in paths}
        found = [Folder(name=name, id=folder.id, area="") for name, folder in folders.items()]

        def plan(rows: list[Agent], others: list[Agent]) -> Opening:
            planned = opening(rows, others, found, fault=group_name_fault)
            _want_own_sources(rows, folders)
            return planned

        def adopted(folder: Folder, before: Agent | None) -> Agent:
            title = before.area if before else ""
            return _creating(folder.id, folder.name, folders[folder.name].source, title)

        return await self._housed.open_all(folders, plan, adopted)

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
                self._store.when_committed(lambda: self._housed.begin(agent))
                return agent.encode()

            return once(db, request_id=request_id, body=body, now=self._clock.now(), answer=answer)

        agent = AgentId((await self._store.write(job)).decode())
        self._housed.begin(agent)
        if self._housed.there(agent) is not None:
            await self._housed.ready_within(agent, READY_WAIT_S)
        return agent

    def _free_name(self, db: apsw.Connection) -> str:
        """The next number that no agent had, and that no folder has, be it whosever."""
        number = 1
        while (
            agent_rows.name_was_given(db, group_name(number)) or (self._agents / group_name(number)).exists()
        ):
            number += 1
        return group_name(number)


def _missing(folder: AgentFolder) -> str:
    return "" if folder.source else "source is missing, which names the group"


def _creating(agent: AgentId, name: str, source: str, title: str) -> Agent:
    return Agent(id=agent, name=name, role=Role.GROUP, state=AgentState.CREATING, area=title, source=source)


def _want_own_sources(rows: list[Agent], folders: Mapping[str, AgentFolder]) -> None:
    """A group has one agent, and an agent keeps its group. Raises Contradiction."""
    here = {folder.id for folder in folders.values()}
    sources = {row.id: row.source for row in rows}
    holders = {row.source: row.name for row in rows if row.id not in here}
    for name, folder in folders.items():
        if sources.get(folder.id, folder.source) != folder.source:
            raise Contradiction(f"{name} names another group than it had. Put the old source back")
        if holders.setdefault(folder.source, name) != name:
            holder = holders[folder.source]
            raise Contradiction(f"{name} is of the same group as {holder}. Take one of them away")
