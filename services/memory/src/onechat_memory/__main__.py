"""The composition root of the memory service: settings in, its rooms built, a server out."""

import secrets
import sys
from typing import Final

from onechat.memory.v1 import memory_service_pb2_grpc
from onechat_runtime.clock import Clock, SystemClock
from onechat_runtime.health import HealthBoard
from onechat_runtime.server import Served, run_service, serve
from onechat_runtime.store import Store, migrations_in

from onechat_memory.adapters.backup_copy import prune
from onechat_memory.bells import Bells
from onechat_memory.chat_logs import ChatLogs
from onechat_memory.compactions import Compactions
from onechat_memory.config import MemorySettings
from onechat_memory.domain.leases import Leases
from onechat_memory.images import Images
from onechat_memory.indexing import Indexing
from onechat_memory.reading import Reading
from onechat_memory.removing import Removing
from onechat_memory.searching import Searching
from onechat_memory.servicer import ALLOW, CAPS, DESCRIPTOR, WAITS, MemoryServicer
from onechat_memory.soundness import Soundness, must_be_sound_at_its_ends
from onechat_memory.upkeep import Upkeep
from onechat_memory.views import WaitedViews

NAME: Final = "memory"
MIGRATIONS: Final = "onechat_memory.migrations"


async def served(store: Store, clock: Clock, epoch: str, *, idle_clock: Clock | None = None) -> Served:
    """The memory service over `store`, its saved views loaded. `epoch` is random for each start.

    `idle_clock` tells when the writer is idle, if that is not to be `clock`.
    """
    bells = Bells(clock)
    leases = Leases(epoch=epoch)
    logs = ChatLogs(store, clock, bells)
    must_be_sound_at_its_ends(store)
    await logs.load()
    images = Images(store, clock)
    await images.prepare()
    idle_clock = idle_clock or clock
    indexing = Indexing(store, bells, idle_clock)
    servicer = MemoryServicer(
        logs=logs,
        views=WaitedViews(store, logs, bells, clock),
        compactions=Compactions(store, logs, leases, bells, clock),
        reading=Reading(store),
        images=images,
        upkeep=Upkeep(store, logs, leases, bells, clock),
        searching=Searching(store, indexing, clock),
    )
    return Served(
        descriptor=DESCRIPTOR,
        add=lambda server: memory_service_pb2_grpc.add_MemoryServiceServicer_to_server(servicer, server),
        allow=ALLOW,
        caps=CAPS,
        ends_at_drain=WAITS,
        background=(Removing(store, bells, clock).run, indexing.run, Soundness(store, idle_clock).run),
    )


async def run(settings: MemorySettings) -> None:
    """Serve until told to end."""
    clock, board = SystemClock(), HealthBoard()
    path = settings.data / NAME / "store.db"
    async with Store.open(
        path, component=NAME, migrations=migrations_in(MIGRATIONS), clock=clock, board=board
    ) as store:
        service = await served(store, clock, secrets.token_hex(8))
        await serve(name=NAME, settings=settings, services=[service], board=board, store=store, prune=prune)


def main() -> int:
    """Run the service; its exit code."""
    return run_service(NAME, MemorySettings, run)


if __name__ == "__main__":
    sys.exit(main())
