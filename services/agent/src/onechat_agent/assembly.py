"""The agent service put together from what it is given; tests build it in the same way.

What it is given: given.py. What all agents share: shared.py. Who they are: household.py. What of all that is
called from outside: servicer.py.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from onechat_runtime.server import Served

from onechat_agent.commands import Commands
from onechat_agent.events import open_stream
from onechat_agent.given import Given
from onechat_agent.household import Household
from onechat_agent.judging import Judging
from onechat_agent.notices import Notices
from onechat_agent.resets import Resets
from onechat_agent.routes import Routes
from onechat_agent.seat import Seat
from onechat_agent.servicer import AgentServicer, served
from onechat_agent.shared import Shared, shared
from onechat_agent.stops import Stops
from onechat_agent.whatsapp_commands import WhatsAppCommands


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentService:
    """What is served, and what runs beside it as long as it is served."""

    served: Served
    background: tuple[Callable[[], Awaitable[None]], ...]
    root: Seat
    children: tuple[str, ...]  #: the names of those that are open
    groups: tuple[str, ...]  #: the names of groups' agents that are open


async def assemble(given: Given) -> AgentService:
    """The service over the root's folder, with every agent open. Raises StartRefused."""
    common = shared(given, await given.store.write(open_stream))
    household = Household(given, common)
    children, groups = await household.open()
    compactor, events, outbox = common.compactor, common.events, common.outbox
    return AgentService(
        served=served(_servicer(given, common, household)),
        background=(
            compactor.run,
            events.forget_old,
            outbox.run,
            common.agents.run,
            common.runs.run,
        ),
        root=household.root,
        children=tuple(children),
        groups=tuple(groups),
    )


def _servicer(given: Given, common: Shared, household: Household) -> AgentServicer:
    agents = common.agents
    stops = Stops(given.store, given.clock, agents, household.subagents, common.runs)
    zone = given.zone_info
    whatsapp = WhatsAppCommands(
        given.whatsapp, Routes(given.store, given.clock), root=given.settings.name, zone=zone
    )
    commands = Commands(agents, stops, common.usage, common.events, common.proposals, whatsapp, zone)
    judging = Judging(
        model=given.model.client,
        seats=agents.seats,
        usage=common.usage,
        telling=common.telling,
        day=common.day,
    )
    return AgentServicer(
        queue=common.queue,
        events=common.events,
        agents=agents,
        stops=stops,
        commands=commands,
        usage=common.usage,
        proposals=common.proposals,
        store=given.store,
        images=given.images,
        groups=household.groups,
        resets=Resets(given.store, given.clock, given.memory, agents),
        judging=judging,
        notices=Notices(given.store, given.clock, common.events, given.root.id),
    )
