"""Makes the seats of agents: from the settings and what is on disk of an agent, its words, tools and limits.

What a seat is: seat.py. What its tools may not touch: fences.py. Prompts: prompts/system.py. Tools that need
others of this service: household.py.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.errors import StartRefused
from onechat_runtime.health import HealthBoard
from onechat_runtime.store import Store

from onechat_agent import sentences
from onechat_agent.adapters import agent_rows
from onechat_agent.adapters.agent_folder import SETTINGS_FILE, AgentFolder
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.config import EFFORTS, AgentSettings
from onechat_agent.domain.agent import UNFINISHED, Agent, Role
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.consent import Confirm
from onechat_agent.domain.groups import given_tools
from onechat_agent.fences import fence, group_fence
from onechat_agent.instructions import instructions_text
from onechat_agent.kin import Kin
from onechat_agent.prompts import sections
from onechat_agent.prompts.child import child_prompt
from onechat_agent.prompts.group import group_prompt, may_see_files
from onechat_agent.prompts.root import root_prompt
from onechat_agent.prompts.state import state_block
from onechat_agent.prompts.subagent import subagent_prompt
from onechat_agent.prompts.system import Head
from onechat_agent.seat import Seat
from onechat_agent.tools.fence import Fence
from onechat_agent.tools.files import EditTool, ReadTool, WriteTool
from onechat_agent.tools.landlock import landlock_version
from onechat_agent.tools.memory import DateTool, ZoomTool
from onechat_agent.tools.proposing import Proposing
from onechat_agent.tools.shell import ShellTool
from onechat_agent.tools.tool import Tool
from onechat_agent.tools.toolbox import Toolbox
from onechat_agent.wiring import DEMO_MODEL, ModelAtHand


class Seating:
    """Makes seats; every agent of a service has its own."""

    def __init__(
        self,
        *,
        settings: AgentSettings,
        store: Store,
        proposals: Proposing,
        model: ModelAtHand,
        memory: MemoryClient,
        clock: Clock,
        zone: str,
        board: HealthBoard,
        tools: Callable[[Role], Sequence[Tool]] = lambda role: (),
        change: Callable[[Seat], Seat] = lambda seat: seat,
    ) -> None:
        """`tools`: what an agent of a role has beside memory, shell and files. `change` changes each seat."""
        self._settings = settings
        self._store = store
        self._proposals = proposals
        self._model = model
        self._zone = zone
        self._tools = tools
        self._change = change
        self._board = board
        landlock = self._landlock = landlock_version()
        if not landlock:
            board.remark("landlock", sentences.NO_LANDLOCK)
        closed = self._fence = fence(settings)
        kin = Kin(store)
        self._zoom = {role: ZoomTool(memory, role, None if role is Role.GROUP else kin) for role in Role}

        def own_tools(within: Fence) -> tuple[Tool, ...]:
            return (
                DateTool(memory, zone),
                ShellTool(within, environ=os.environ, clock=clock, landlock=landlock),
                ReadTool(within),
                WriteTool(within),
                EditTool(within),
            )

        self._own_tools = own_tools(closed)
        self._group_tools = own_tools(group_fence(settings))

    def root(self, folder: AgentFolder) -> Seat:
        """The root with its tools and its words. Raises StartRefused for an effort that is none."""
        return self._with_tree(
            folder,
            role=Role.ROOT,
            parent=None,
            words=root_prompt,
            state=lambda now, workdir: self._state(
                now, folder.id, workdir, children=self._store.read(lambda db: _areas(db, folder.id))
            ),
        )

    def child(self, folder: AgentFolder, parent: AgentId) -> Seat:
        """A child of the root, whose id is `parent`. Raises StartRefused for an effort that is none."""
        root = self._settings.name
        return self._with_tree(
            folder,
            role=Role.CHILD,
            parent=parent,
            words=lambda head: child_prompt(head, parent=root, area=folder.area),
            state=lambda now, workdir: self._state(now, folder.id, workdir),
        )

    def group(self, folder: AgentFolder) -> Seat:
        """The agent of a group, whose folder names its source. Raises StartRefused for a wrong effort."""
        given = given_tools(folder.tools, fenced=self._landlock > 0)
        if given != folder.tools:
            self._board.remark("group_shell", sentences.NO_SHELL_FOR_GROUPS)
            folder = replace(folder, tools=given)
        toolbox = self._toolbox(Role.GROUP, folder.outside, folder.tools)
        shows_folder = may_see_files(toolbox.names)

        def state(now: datetime, workdir: Path) -> str:
            row = self._store.read(lambda db: agent_rows.agent(db, folder.id))
            title = row.area if row else ""
            return state_block(now, zone=self._zone, workdir=workdir if shows_folder else None, group=title)

        seat = self._with_tree(
            folder,
            role=Role.GROUP,
            parent=None,
            words=group_prompt,
            state=state,
            unread=sections.INSTRUCTIONS_UNREAD_IN_GROUP,
        )
        return replace(seat, audience=folder.source)

    def subagent(self, agent: Agent, owner: Seat) -> Seat:
        """A subagent of `owner`: it works with its owner's model, limits, folder and instructions."""
        toolbox = self._toolbox(Role.SUBAGENT, owner.outside)

        def system() -> str:
            head = Head(
                name=agent.name,
                instructions_file=owner.protected[-1],
                instructions=owner.instructions(),
                tools=toolbox.names,
            )
            return subagent_prompt(head, owner=owner.name)

        return self._change(
            replace(
                owner,
                id=agent.id,
                name=agent.name,
                role=Role.SUBAGENT,
                parent=owner.id,
                owner=owner,
                area=agent.area,
                effort=agent.effort or owner.effort,
                toolbox=toolbox,
                system=system,
                state=lambda now: state_block(now, zone=self._zone, workdir=owner.workdir),
            )
        )

    def _with_tree(
        self,
        folder: AgentFolder,
        *,
        role: Role,
        parent: AgentId | None,
        words: Callable[[Head], str],
        state: Callable[[datetime, Path], str],
        unread: str = sections.INSTRUCTIONS_UNREAD,
    ) -> Seat:
        """The seat of an agent with a folder; its name is the folder's."""
        toolbox, workdir = self._toolbox(role, folder.outside, folder.tools), self._workdir(folder)

        def instructions() -> str:
            return instructions_text(folder, self._fence, unread)

        def system() -> str:
            return words(
                Head(
                    name=folder.path.name,
                    instructions_file=folder.instructions.absolute(),
                    instructions=instructions(),
                    tools=toolbox.names,
                )
            )

        turn_model = DEMO_MODEL if self._model.demo else folder.model or self._model.model
        return self._change(
            Seat(
                id=folder.id,
                name=folder.path.name,
                role=role,
                parent=parent,
                area=folder.area,
                limits=folder.limits,
                model=turn_model,
                compact_model=self._model.compact_model or turn_model,
                effort=_effort(folder) or self._settings.effort,
                workdir=workdir,
                protected=tuple(path.absolute() for path in folder.protected),
                toolbox=toolbox,
                system=system,
                state=lambda now: state(now, workdir),
                instructions=instructions,
                outside=folder.outside,
            )
        )

    def _state(
        self, now: datetime, agent: AgentId, workdir: Path, children: Sequence[tuple[str, str]] = ()
    ) -> str:
        """The state block of `agent`, with those of its subagents that have work to do."""
        unfinished = self._store.read(lambda db: agent_rows.subagents(db, UNFINISHED))
        return state_block(
            now,
            zone=self._zone,
            workdir=workdir,
            children=children,
            at_work=[one.name for one in unfinished if one.parent == agent],
        )

    def _toolbox(self, role: Role, outside: Sequence[str], also: Sequence[str] = ()) -> Toolbox:
        own = self._group_tools if role is Role.GROUP else self._own_tools
        return Toolbox(
            role,
            [self._zoom[role], *own, *self._tools(role)],
            also=also,
            confirm=Confirm(self._settings.confirm),
            proposals=self._proposals,
            outside=outside,
            agents=self._settings.agents_folder.absolute(),
        )

    def _workdir(self, folder: AgentFolder) -> Path:
        return (folder.workdir or self._settings.workdir).absolute()


def _areas(db: apsw.Connection, root: AgentId) -> list[tuple[str, str]]:
    """(name, area) of the root's children, oldest first."""
    return [(child.name, child.area) for child in agent_rows.of_role(db, Role.CHILD, parent=root)]


def _effort(folder: AgentFolder) -> str | None:
    if folder.effort is not None and folder.effort not in EFFORTS:
        raise StartRefused(
            f"{folder.path / SETTINGS_FILE} cannot be used: effort is one of {', '.join(EFFORTS)}. "
            "Mend it and start again."
        )
    return folder.effort
