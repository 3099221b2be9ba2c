"""The agent service put together from its store, its memory and its model; tests build it in the same way.

What is built from settings before that: wiring.py.
"""

import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from onechat_runtime.clock import Clock
from onechat_runtime.health import HealthBoard
from onechat_runtime.server import Served
from onechat_runtime.store import Store

from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.agents import Agents
from onechat_agent.asking import Asking, Model
from onechat_agent.commands import Commands
from onechat_agent.compactor import Compactor
from onechat_agent.day_limit import DayLimit
from onechat_agent.domain.usage import Price
from onechat_agent.events import Events, open_stream
from onechat_agent.loop import AgentLoop
from onechat_agent.means import Means
from onechat_agent.patience import Patience
from onechat_agent.queue import Queue
from onechat_agent.seat import Seat
from onechat_agent.servicer import AgentServicer, served
from onechat_agent.telling import Telling
from onechat_agent.usage_book import UsageBook
from onechat_agent.views import Views


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentService:
    """What is served, and what runs beside it as long as it is served."""

    served: Served
    background: tuple[Callable[[], Awaitable[None]], ...]


async def assemble(
    *,
    store: Store,
    memory: MemoryClient,
    model: Model,
    seat: Seat,
    zone: str,
    prices: Mapping[str, Price],
    clock: Clock,
    rng: random.Random,
    board: HealthBoard,
) -> AgentService:
    """The service with `seat` as its root; `zone` is the user's, an IANA name."""
    usage = UsageBook(store, clock, ZoneInfo(zone), prices)
    patience = Patience(clock, rng)
    events = Events(store, clock, await store.write(open_stream))
    telling = Telling(store, events, clock, board)
    day = DayLimit(store, clock, usage, telling)
    compactor = Compactor(
        memory=memory,
        model=model,
        builder=seat.compact_model,
        seats={seat.id: seat},
        usage=usage,
        telling=telling,
        day=day,
        patience=patience,
        clock=clock,
    )
    queue = Queue(store, clock, events, seat.id)
    means = Means(
        store=store,
        memory=memory,
        queue=queue,
        events=events,
        views=Views(memory, compactor, day, patience),
        asking=Asking(model, events, usage, clock, rng, telling),
        usage=usage,
        telling=telling,
        day=day,
        patience=patience,
        clock=clock,
    )
    agents = Agents(store, clock, memory, patience, seat.id, {seat.id: (seat, AgentLoop(means, seat))})
    servicer = AgentServicer(
        queue=queue,
        events=events,
        agents=agents,
        commands=Commands(agents, usage, events),
        usage=usage,
        store=store,
    )
    background = (compactor.run, events.forget_old, *agents.background())
    return AgentService(served=served(servicer), background=background)
