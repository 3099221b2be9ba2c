"""Who lives in a service: the root, children, agents of groups, subagents, each with its seat and loop.

What they share: shared.py. Which tools are whose is a tool's own word (tools/tool.py).
"""

from collections.abc import Sequence

from onechat_agent.children import Children
from onechat_agent.departures import Departures
from onechat_agent.domain.agent import Role
from onechat_agent.given import Given
from onechat_agent.groups import Groups
from onechat_agent.housed import Housing
from onechat_agent.kin import Kin
from onechat_agent.lives import Lives, Made
from onechat_agent.loop import AgentLoop
from onechat_agent.routes import Routes
from onechat_agent.seat import Seat
from onechat_agent.seating import Seating
from onechat_agent.shared import Shared
from onechat_agent.showing import Showing
from onechat_agent.subagents import Subagents
from onechat_agent.tells import Tells
from onechat_agent.tools.agent_create import AgentCreateTool
from onechat_agent.tools.images import ImageShowTool
from onechat_agent.tools.routes import RoutesTool, RouteTool, UnrouteTool
from onechat_agent.tools.schedules import ScheduleListTool, ScheduleRemoveTool, ScheduleSetTool
from onechat_agent.tools.spawn import SpawnTool
from onechat_agent.tools.tell import TellTool
from onechat_agent.tools.tool import Tool
from onechat_agent.tools.whatsapp import WhatsAppFindTool, WhatsAppSendTool


class Household:
    """All agents of a service, in the order in which they are opened."""

    def __init__(self, given: Given, shared: Shared) -> None:
        self._given = given
        self._shared = shared
        self._lives = Lives(given.store, given.clock, given.memory, shared.patience, given.board)
        self._seating = self._seats()
        self._departures = self._leaving()
        housing = self._homes()
        self.children = Children(housing)
        self.groups = Groups(housing)
        self.subagents = self._at_tasks()
        self.root = self._seating.root(given.root)

    async def open(self) -> tuple[list[str], list[str]]:
        """Lets all that there are live; the names of the children and of groups' agents.

        Raises StartRefused for what cannot be used of the folders.
        """
        self._live(self.root, Made())
        children = await self.children.open_all()
        groups = await self.groups.open_all()
        self.subagents.open_unfinished()
        return children, groups

    def _live(self, seat: Seat, made: Made) -> None:
        loop = self._loop(seat)
        self._shared.agents.enter(seat, loop, self._lives.of(seat, loop, made))

    def _loop(self, seat: Seat) -> AgentLoop:
        return AgentLoop(self._shared.means, seat)

    def _tools(self, role: Role) -> Sequence[Tool]:
        """What an agent of `role` may have beside memory, shell and files; asked for when a seat is made."""
        given, shared = self._given, self._shared
        routes = Routes(given.store, given.clock)
        tells = Tells(given.store, given.clock, shared.queue, Kin(given.store), given.images)
        return [
            AgentCreateTool(self.children),
            SpawnTool(self.subagents),
            TellTool(tells),
            RouteTool(routes),
            UnrouteTool(routes),
            RoutesTool(routes),
            ImageShowTool(Showing(given.store, given.clock, shared.events, given.images)),
            WhatsAppFindTool(given.whatsapp),
            WhatsAppSendTool(given.whatsapp, given.images, given.zone_info),
            ScheduleSetTool(given.scheduler),
            ScheduleListTool(given.scheduler, given.zone),
            ScheduleRemoveTool(given.scheduler),
            *given.far_tools,
        ]

    def _seats(self) -> Seating:
        given = self._given
        return Seating(
            settings=given.settings,
            proposals=self._shared.proposals,
            store=given.store,
            model=given.model,
            memory=given.memory,
            clock=given.clock,
            zone=given.zone,
            board=given.board,
            tools=self._tools,
            change=given.change,
        )

    def _leaving(self) -> Departures:
        given, shared = self._given, self._shared
        name, root = given.settings.name, given.root.id
        return Departures(given.store, given.clock, shared.events, shared.outbox, root_name=name, root=root)

    def _homes(self) -> Housing:
        return Housing(
            settings=self._given.settings,
            store=self._given.store,
            clock=self._given.clock,
            seating=self._seating,
            departures=self._departures,
            root=self._given.root,
            live=self._live,
        )

    def _at_tasks(self) -> Subagents:
        return Subagents(
            store=self._given.store,
            clock=self._given.clock,
            memory=self._given.memory,
            patience=self._shared.patience,
            queue=self._shared.queue,
            agents=self._shared.agents,
            seating=self._seating,
            loop_of=self._loop,
            places=self._given.settings.subagents,
        )
