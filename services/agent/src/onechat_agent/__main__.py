"""The agent service: builds everything, serves, closes in reverse order."""

import sys
from contextlib import AsyncExitStack
from zoneinfo import ZoneInfo

from onechat_runtime.channels import open_channel
from onechat_runtime.clock import SystemClock
from onechat_runtime.health import HealthBoard
from onechat_runtime.server import run_service, serve
from onechat_runtime.store import Store, migrations_in
from onechat_runtime.tokens import own_token

from onechat_agent import wiring, zone
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.agents import Agents, open_root
from onechat_agent.asking import Asking
from onechat_agent.commands import Commands
from onechat_agent.compactor import Compactor
from onechat_agent.config import AgentSettings
from onechat_agent.events import Events, open_stream
from onechat_agent.loop import AgentLoop
from onechat_agent.means import Means
from onechat_agent.patience import Patience
from onechat_agent.queue import Queue
from onechat_agent.servicer import AgentServicer, served
from onechat_agent.telling import Telling
from onechat_agent.tools.landlock import protect_process
from onechat_agent.usage_book import UsageBook, read_prices
from onechat_agent.views import Views


async def run(settings: AgentSettings) -> None:
    """Serves until it is told to stop."""
    protect_process()
    clock, rng, board = SystemClock(), wiring.chance(), HealthBoard()
    zone_name = settings.zone or zone.of_machine()
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(
            Store.open(
                settings.data / "agent" / "store.db",
                component="agent",
                migrations=migrations_in("onechat_agent.migrations"),
                clock=clock,
                board=board,
            )
        )
        folder = await open_root(store, clock, settings.agents_folder, settings.name)
        wiring.make_workdir(settings, folder)
        usage = UsageBook(
            store, clock, ZoneInfo(zone_name), read_prices(settings.data / "agent" / "prices.toml")
        )
        model = await stack.enter_async_context(wiring.model_at_hand(settings, store, clock, board))
        channel = await stack.enter_async_context(
            open_channel(
                settings.memory_address, token=own_token(settings, "agent"), name="memory", board=board
            )
        )
        memory = MemoryClient(channel, zone_name)
        patience = Patience(clock, rng)
        events = Events(store, clock, await store.write(open_stream))
        telling = Telling(store, events, clock)
        seat = wiring.root_seat(settings, folder, model, memory, clock, zone_name, board)
        compactor = Compactor(
            memory=memory,
            model=model.client,
            builder=seat.compact_model,
            seats={seat.id: seat},
            store=store,
            usage=usage,
            telling=telling,
            patience=patience,
            clock=clock,
            rng=rng,
        )
        queue = Queue(store, clock, events, seat.id)
        means = Means(
            store=store,
            memory=memory,
            queue=queue,
            events=events,
            views=Views(memory, compactor, patience),
            asking=Asking(model.client, events, clock, rng, telling),
            usage=usage,
            telling=telling,
            patience=patience,
            clock=clock,
            rng=rng,
        )
        agents = Agents(store, memory, patience, seat.id, {seat.id: (seat, AgentLoop(means, seat))})
        servicer = AgentServicer(
            queue=queue,
            events=events,
            agents=agents,
            commands=Commands(agents, usage, events),
            usage=usage,
            store=store,
            clock=clock,
        )
        background = [model.client.warm_up, compactor.run, events.forget_old, *agents.background()]
        if model.demo is not None:
            background.append(model.demo.keep_running)
        await serve(
            name="agent",
            settings=settings,
            services=[served(servicer)],
            board=board,
            store=store,
            background=background,
        )


if __name__ == "__main__":
    sys.exit(run_service("agent", AgentSettings, run))
