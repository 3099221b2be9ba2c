"""The composition root of the agent service: settings in, the root opened, a server out."""

import os
import sys
from contextlib import AsyncExitStack

from onechat_runtime.channels import open_channel
from onechat_runtime.clock import SystemClock
from onechat_runtime.health import HealthBoard
from onechat_runtime.server import run_service, serve
from onechat_runtime.store import Store, migrations_in
from onechat_runtime.time_zone import machine_zone
from onechat_runtime.tokens import own_token

from onechat_agent import wiring
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.adapters.scheduler import SchedulerClient
from onechat_agent.adapters.whatsapp import WhatsAppClient
from onechat_agent.assembly import assemble
from onechat_agent.config import AgentSettings
from onechat_agent.fences import make_workdir
from onechat_agent.given import Given
from onechat_agent.root_folder import open_root
from onechat_agent.usage_book import read_prices

NAME = "agent"
MIGRATIONS = "onechat_agent.migrations"


async def run(settings: AgentSettings) -> None:
    """Serve until told to end."""
    clock, rng, board = SystemClock(), wiring.chance(), HealthBoard()
    zone = settings.zone or machine_zone(os.environ)
    data = settings.data / NAME
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(
            Store.open(
                data / "store.db",
                component=NAME,
                migrations=migrations_in(MIGRATIONS),
                clock=clock,
                board=board,
            )
        )
        folder = await open_root(store, clock, settings.agents_folder, settings.name)
        make_workdir(settings, folder)
        prices = read_prices(data / "prices.toml")
        model = await stack.enter_async_context(wiring.model_at_hand(settings, store, clock, board))
        token = own_token(settings, NAME)
        to_memory = await stack.enter_async_context(
            open_channel(settings.memory_address, token=token, name="memory", board=board)
        )
        to_scheduler = await stack.enter_async_context(
            open_channel(settings.scheduler_address, token=token, name="scheduler", board=board)
        )
        to_whatsapp = await stack.enter_async_context(
            open_channel(settings.whatsapp_address, token=token, name="whatsapp", board=board)
        )
        memory = MemoryClient(to_memory, zone)
        service = await assemble(
            Given(
                settings=settings,
                store=store,
                memory=memory,
                images=memory.images,
                scheduler=SchedulerClient(to_scheduler),
                whatsapp=WhatsAppClient(to_whatsapp),
                model=model,
                root=folder,
                zone=zone,
                prices=prices,
                clock=clock,
                rng=rng,
                board=board,
            )
        )
        background = [model.client.warm_up, *service.background]
        if model.demo is not None:
            background.append(model.demo.keep_running)
        await serve(
            name=NAME,
            settings=settings,
            services=[service.served],
            board=board,
            store=store,
            background=background,
            said={"children": service.children, "groups": service.groups},
        )


def main() -> int:
    """Run the service; its exit code."""
    return run_service(NAME, AgentSettings, run)


if __name__ == "__main__":
    sys.exit(main())
