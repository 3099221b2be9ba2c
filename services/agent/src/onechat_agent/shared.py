"""What all agents of a service share: queue, events, usage and its limits, proposals, the means of turns.

Who the agents are, and what each has alone: household.py.
"""

from dataclasses import dataclass

from onechat_runtime.outbox import Outbox

from onechat_agent.adapters.picture_scaling import PictureScaling
from onechat_agent.agents import Agents
from onechat_agent.asking import Asking
from onechat_agent.compactor import Compactor
from onechat_agent.day_limit import DayLimit
from onechat_agent.departures import DELETE_SCHEDULES, SET_ASIDE, DeleteSchedules, SetAside
from onechat_agent.events import Events
from onechat_agent.given import Given
from onechat_agent.means import Means
from onechat_agent.patience import Patience
from onechat_agent.pictures import PictureSource
from onechat_agent.proposal_runs import ProposalRuns
from onechat_agent.proposals import Proposals
from onechat_agent.queue import Queue
from onechat_agent.telling import Telling
from onechat_agent.usage_book import UsageBook
from onechat_agent.views import Views


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """One of each for the whole service; belongs to one event loop."""

    events: Events
    usage: UsageBook
    telling: Telling
    day: DayLimit
    patience: Patience
    agents: Agents
    outbox: Outbox
    queue: Queue
    proposals: Proposals
    runs: ProposalRuns
    compactor: Compactor
    means: Means


def shared(given: Given, stream: str) -> Shared:
    """All of it; `stream` is the name of the events' stream. Nothing of it is at work yet."""
    store, clock = given.store, given.clock
    events = Events(store, clock, stream)
    usage = UsageBook(store, clock, given.zone_info, given.prices)
    telling = Telling(store, events, clock, given.board)
    day = DayLimit(store, clock, usage, telling)
    patience = Patience(clock, given.rng)
    agents = Agents(store, clock, given.memory, given.root.id)
    queue = Queue(store, clock, events, given.root.id)
    proposals = Proposals(store, clock, events, queue)
    compactor = Compactor(
        memory=given.memory,
        model=given.model.client,
        seats=agents.seats,
        usage=usage,
        telling=telling,
        day=day,
        patience=patience,
        clock=clock,
    )
    return Shared(
        events=events,
        usage=usage,
        telling=telling,
        day=day,
        patience=patience,
        agents=agents,
        outbox=_outbox(given),
        queue=queue,
        proposals=proposals,
        runs=ProposalRuns(proposals, clock, agents.seats, given.root.id),
        compactor=compactor,
        means=Means(
            store=store,
            memory=given.memory,
            queue=queue,
            events=events,
            views=Views(given.memory, compactor, day, patience, telling),
            pictures=PictureSource(given.images, PictureScaling(), patience),
            asking=Asking(given.model.client, events, usage, clock, given.rng, telling),
            usage=usage,
            telling=telling,
            day=day,
            patience=patience,
            clock=clock,
        ),
    )


def _outbox(given: Given) -> Outbox:
    senders = {
        SET_ASIDE: SetAside(given.memory).send,
        DELETE_SCHEDULES: DeleteSchedules(given.scheduler).send,
    }
    return Outbox(given.store, given.clock, given.rng, senders, board=given.board)
