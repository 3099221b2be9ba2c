"""The whatsapp service as one of five forked services: real but for the library's stub, and for its clock.

WHATSAPP_WORLD names the socket of a world (whatsapp_world.py), which the child processes speak to, and
WHATSAPP_CLOCK the file of a pushed clock (pushed_clock.py). World and clock are in the test's process and
outlive the service.
"""

import os
import sys
from collections.abc import MutableMapping
from functools import partial
from pathlib import Path
from typing import Final

import onechat_whatsapp.__main__ as service
from onechat_whatsapp.wire.supervisor import WhatsAppSupervisor

from tests.fakes import five_services_points
from tests.fakes.pushed_clock import PushedClock
from tests.fakes.whatsapp_world import QUICK

WORLD: Final = "WHATSAPP_WORLD"
CLOCK: Final = "WHATSAPP_CLOCK"
_REPOSITORY: Final = Path(__file__).parents[2]


def install_from(environ: MutableMapping[str, str]) -> None:
    """Have the whatsapp service run so, if the variables are there; it never sees them."""
    world, clock = environ.pop(WORLD, ""), environ.pop(CLOCK, "")
    if world:
        setattr(  # noqa: B010 - mypy would have it no other way
            service,
            "run",
            partial(
                service.run,
                wire_of=partial(_wire, world),
                reached=five_services_points.reached,
                clock=PushedClock(Path(clock)),
            ),
        )


def _wire(world: str, session: Path) -> WhatsAppSupervisor:
    return WhatsAppSupervisor(
        session,
        command=(sys.executable, "-m", "tests.fakes.whatsapp_child", world),
        environment={**os.environ, "PYTHONPATH": str(_REPOSITORY)},
        patience=QUICK,
    )
