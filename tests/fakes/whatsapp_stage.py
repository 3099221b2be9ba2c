"""The whatsapp service as it is started, but for the library in its child process: that is a stub, whose
account is played by whatsapp_phone.py.

The phone starts it, and names its own socket in WHATSAPP_WORLD.
"""

import os
import sys
from pathlib import Path

from onechat_runtime.server import run_service
from onechat_whatsapp.__main__ import NAME, run
from onechat_whatsapp.config import WhatsAppSettings
from onechat_whatsapp.wire.supervisor import WhatsAppSupervisor

from tests.contract.source_tree import REPOSITORY

WORLD = "WHATSAPP_WORLD"


def wire_of(session: Path) -> WhatsAppSupervisor:
    """The real wire of `session`, whose child asks the account at the other end of the socket."""
    return WhatsAppSupervisor(
        session,
        command=(sys.executable, "-m", "tests.fakes.whatsapp_child", os.environ[WORLD]),
        environment={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )


if __name__ == "__main__":
    sys.exit(run_service(NAME, WhatsAppSettings, lambda settings: run(settings, wire_of)))
