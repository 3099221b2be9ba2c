"""The composition root of the WhatsApp gateway: its store for the lock, the servicer, the server."""

import sys
from typing import Final

from onechat.whatsapp.v1 import whatsapp_service_pb2_grpc
from onechat_runtime.clock import SystemClock
from onechat_runtime.health import HealthBoard
from onechat_runtime.server import Served, run_service, serve
from onechat_runtime.store import Store

from onechat_whatsapp.config import WhatsAppSettings
from onechat_whatsapp.servicer import ALLOW, DESCRIPTOR, WhatsAppServicer

NAME: Final = "whatsapp"
REMARK: Final = "WhatsApp is not linked; this version cannot link it yet."


def served() -> Served:
    """The gateway's contract behind the door."""
    return Served(
        descriptor=DESCRIPTOR,
        add=lambda server: whatsapp_service_pb2_grpc.add_WhatsAppServiceServicer_to_server(
            WhatsAppServicer(), server
        ),
        allow=ALLOW,
    )


async def run(settings: WhatsAppSettings) -> None:
    """Serve until told to end."""
    board = HealthBoard()
    board.remark("link", REMARK)
    # It keeps nothing yet; its lock keeps a second gateway off the same data.
    async with Store.open(
        settings.data / NAME / "store.db", component=NAME, migrations=(), clock=SystemClock(), board=board
    ) as store:
        await serve(name=NAME, settings=settings, services=[served()], board=board, store=store)


def main() -> int:
    """Run the service; its exit code."""
    return run_service(NAME, WhatsAppSettings, run)


if __name__ == "__main__":
    sys.exit(main())
