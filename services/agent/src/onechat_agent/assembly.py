"""The agent service put together from its store, its memory and its model; tests build it in the same way.

What is built from settings before that: wiring.py. Agents' seats: seating.py.
"""

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from onechat_runtime.clock import Clock
from onechat_runtime.health import HealthBoard
from onechat_runtime.outbox import Outbox
from onechat_runtime.server import Served
from onechat_runtime.store import Store

from onechat_agent.adapters.agent_folder import AgentFolder
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.adapters.memory_images import MemoryImages
from onechat_agent.adapters.picture_scaling import PictureScaling
from onechat_agent.adapters.scheduler import SchedulerClient
from onechat_agent.agents import Agents
from onechat_agent.asking import Asking
from onechat_agent.children import Children
from onechat_agent.commands import Commands
from onechat_agent.compactor import Compactor
from onechat_agent.config import AgentSettings
from onechat_agent.day_limit import DayLimit
from onechat_agent.departures import DELETE_SCHEDULES, SET_ASIDE, DeleteSchedules, Departures, SetAside
from onechat_agent.domain.agent import Role
from onechat_agent.domain.usage import Price
from onechat_agent.events import Events, open_stream
from onechat_agent.groups import Groups
from onechat_agent.judging import Judging
from onechat_agent.kin import Kin
from onechat_agent.lives import Lives, Made
from onechat_agent.loop import AgentLoop
from onechat_agent.means import Means
from onechat_agent.patience import Patience
from onechat_agent.pictures import PictureSource
from onechat_agent.proposal_runs import ProposalRuns
from onechat_agent.proposals import Proposals
from onechat_agent.queue import Queue
from onechat_agent.resets import Resets
from onechat_agent.routes import Routes
from onechat_agent.seat import Seat
from onechat_agent.seating import Seating
from onechat_agent.servicer import AgentServicer, served
from onechat_agent.showing import Showing
from onechat_agent.stops import Stops
from onechat_agent.subagents import Subagents
from onechat_agent.telling import Telling
from onechat_agent.tells import Tells
from onechat_agent.tools.agent_create import AgentCreateTool
from onechat_agent.tools.images import ImageShowTool
from onechat_agent.tools.routes import RoutesTool, RouteTool, UnrouteTool
from onechat_agent.tools.schedules import ScheduleListTool, ScheduleRemoveTool, ScheduleSetTool
from onechat_agent.tools.spawn import SpawnTool
from onechat_agent.tools.tell import TellTool
from onechat_agent.tools.tool import Tool
from onechat_agent.usage_book import UsageBook
from onechat_agent.views import Views
from onechat_agent.wiring import ModelAtHand


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentService:
    """What is served, and what runs beside it as long as it is served."""

    served: Served
    background: tuple[Callable[[], Awaitable[None]], ...]
    root: Seat
    children: tuple[str, ...]  #: the names of those that are open
    groups: tuple[str, ...]  #: the names of groups' agents that are open


async def assemble(
    *,
    settings: AgentSettings,
    store: Store,
    memory: MemoryClient,
    images: MemoryImages,
    scheduler: SchedulerClient,
    model: ModelAtHand,
    root: AgentFolder,
    zone: str,
    prices: Mapping[str, Price],
    clock: Clock,
    rng: random.Random,
    board: HealthBoard,
    far_tools: Sequence[Tool] = (),
    change: Callable[[Seat], Seat] = lambda seat: seat,
) -> AgentService:
    """The service over the root's folder; `zone` is the user's, an IANA name.

    `far_tools`: tools that other services stand behind. `change`: what a test makes of each seat.
    """
    usage = UsageBook(store, clock, ZoneInfo(zone), prices)
    patience = Patience(clock, rng)
    events = Events(store, clock, await store.write(open_stream))
    telling = Telling(store, events, clock, board)
    day = DayLimit(store, clock, usage, telling)
    agents = Agents(store, clock, memory, root.id)

    senders = {SET_ASIDE: SetAside(memory).send, DELETE_SCHEDULES: DeleteSchedules(scheduler).send}
    outbox = Outbox(store, clock, rng, senders, board=board)

    routes = Routes(store, clock)

    def tools(role: Role) -> Sequence[Tool]:
        return [
            AgentCreateTool(children),
            SpawnTool(subagents),
            TellTool(Tells(store, clock, queue, Kin(store), images)),
            RouteTool(routes),
            UnrouteTool(routes),
            RoutesTool(routes),
            ImageShowTool(Showing(store, clock, events, images)),
            ScheduleSetTool(scheduler),
            ScheduleListTool(scheduler, zone),
            ScheduleRemoveTool(scheduler),
            *far_tools,
        ]

    queue = Queue(store, clock, events, root.id)
    proposals = Proposals(store, clock, events, queue)
    runs = ProposalRuns(proposals, clock, agents.seats, root.id)
    seating = Seating(
        settings=settings,
        proposals=proposals,
        store=store,
        model=model,
        memory=memory,
        clock=clock,
        zone=zone,
        board=board,
        tools=tools,
        change=change,
    )

    def live(seat: Seat, made: Made) -> None:
        loop = AgentLoop(means, seat)
        agents.enter(seat, loop, lives.of(seat, loop, made))

    departures = Departures(store, clock, events, outbox, root_name=settings.name, root=root.id)
    children = Children(
        settings=settings,
        store=store,
        clock=clock,
        seating=seating,
        departures=departures,
        root=root,
        live=live,
    )
    groups = Groups(
        settings=settings,
        store=store,
        clock=clock,
        seating=seating,
        departures=departures,
        root=root,
        live=live,
    )
    subagents = Subagents(
        store=store,
        clock=clock,
        memory=memory,
        patience=patience,
        queue=queue,
        agents=agents,
        seating=seating,
        loop_of=lambda seat: AgentLoop(means, seat),
        places=settings.subagents,
    )
    root_seat = seating.root(root)
    compactor = Compactor(
        memory=memory,
        model=model.client,
        seats=agents.seats,
        usage=usage,
        telling=telling,
        day=day,
        patience=patience,
        clock=clock,
    )
    means = Means(
        store=store,
        memory=memory,
        queue=queue,
        events=events,
        views=Views(memory, compactor, day, patience, telling),
        pictures=PictureSource(images, PictureScaling(), patience),
        asking=Asking(model.client, events, usage, clock, rng, telling),
        usage=usage,
        telling=telling,
        day=day,
        patience=patience,
        clock=clock,
    )
    lives = Lives(store, clock, memory, patience, board)
    live(root_seat, Made())
    names = await children.open_all()
    group_names = await groups.open_all()
    subagents.open_unfinished()
    stops = Stops(store, clock, agents, subagents, runs)
    servicer = AgentServicer(
        queue=queue,
        events=events,
        agents=agents,
        stops=stops,
        commands=Commands(agents, stops, usage, events, proposals, ZoneInfo(zone)),
        usage=usage,
        proposals=proposals,
        store=store,
        images=images,
        groups=groups,
        resets=Resets(store, clock, memory, agents),
        judging=Judging(model=model.client, seats=agents.seats, usage=usage, telling=telling, day=day),
    )
    background = (compactor.run, events.forget_old, outbox.run, agents.run, runs.run)
    return AgentService(
        served=served(servicer),
        background=background,
        root=root_seat,
        children=tuple(names),
        groups=tuple(group_names),
    )
