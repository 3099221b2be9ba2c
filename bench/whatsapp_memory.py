"""What six processes take at rest: the five services, and the one that holds a linked WhatsApp session.

The session is made by hand, with a device, contacts and LIDs, and the library's attempts to connect are
refused by a closed port of this machine, so what a live connection would keep is not in it. Memory is in
units of 1,000,000 bytes, as /proc says: PSS shares a page out among the processes that have it. Linux only,
and as root, for nobody else may look at the agent's memory and at the session's. Times are seconds.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import psutil  # type: ignore[import-untyped]
from onechat_whatsapp.wire.ports import DialFailed, LibraryMissing, Me
from onechat_whatsapp.wire.session_file import SessionFile
from onechat_whatsapp.wire.supervisor import WhatsAppSupervisor

from bench.figures import Figure, figure
from bench.idle import MB, SERVICES
from bench.made_session import link
from bench.processes import started
from bench.scale import Scale

TITLE: Final = "Six processes at rest with a linked WhatsApp session"
ABOUT: Final = (
    "The five services and the process behind WhatsApp's wire, with the real library loaded and a session "
    "made by hand. It is refused a connection, over and over, so what a live one would keep is not counted. "
    "RSS counts shared pages for each process that has them, PSS shares them out. The baseline stands under "
    "`idle`."
)
TOGETHER_AT_MOST_MB: Final = 550.0
WIRE: Final = "whatsapp's wire"
NOWHERE: Final = {"HTTPS_PROXY": "http://127.0.0.1:9"}  # the one thing that a service hands on to the library
_LOOK_S: Final = 0.05
_WITHIN_S: Final = 60.0


async def measure(scale: Scale) -> list[Figure]:
    """The figures of one run: rounds of looks at the same processes."""
    with tempfile.TemporaryDirectory(prefix="onechat-bench-") as folder:
        data = Path(folder) / "data"
        try:
            await _linked(data / "whatsapp" / "session.db", scale.contacts)
        except LibraryMissing as error:
            return [figure(f"not measured: {error}", [0.0], "MB")]
        async with _all_six(data) as processes:
            rounds = []
            for _ in range(scale.rounds):
                await asyncio.sleep(scale.settle_s)
                rounds.append({name: _taken(pid) for name, pid in processes.items()})
    return _figures(rounds)


async def _linked(session: Path, contacts: int) -> None:
    """A session file that the library has made, with an account in it."""
    session.parent.mkdir(parents=True, mode=0o700)
    wire = WhatsAppSupervisor(session, environment={**os.environ, **NOWHERE})
    try:
        await wire.start()
    except DialFailed:
        pass
    finally:
        await wire.kill()
    link(
        session, Me(number="15550000000@s.whatsapp.net", lid="99887766554433@lid", push_name="Ann"), contacts
    )
    assert SessionFile(session).is_linked()


@asynccontextmanager
async def _all_six(data: Path) -> AsyncIterator[dict[str, int]]:
    """The process ids of the services and of the wire's process, by name; the library is loaded there."""
    processes: dict[str, int] = {}
    async with AsyncExitStack() as stack:
        told = {"ONECHAT_WORKDIR": str(data.parent / "workspace"), **NOWHERE}
        for name in SERVICES:
            service = await stack.enter_async_context(started(name, data, told))
            told[f"ONECHAT_{name.upper()}_ADDRESS"] = service.address
            processes[name] = service.pid
        processes[WIRE] = await _wire_of(processes["whatsapp"])
        yield processes


async def _wire_of(gateway: int) -> int:
    """The gateway's child, once it has loaded the library."""
    async with asyncio.timeout(_WITHIN_S):
        while True:
            for child in psutil.Process(gateway).children():
                if any("neonize" in one.path for one in child.memory_maps()):
                    return int(child.pid)
            await asyncio.sleep(_LOOK_S)


def _taken(pid: int) -> tuple[float, float]:
    """(RSS, PSS) of a process."""
    memory = psutil.Process(pid).memory_full_info()
    return memory.rss / MB, memory.pss / MB


def _figures(rounds: Sequence[dict[str, tuple[float, float]]]) -> list[Figure]:
    def row(what: str, which: int, *names: str) -> Figure:
        return figure(what, [sum(one[name][which] for name in names) for one in rounds], "MB")

    names = (*SERVICES, WIRE)
    return [
        *(row(f"{name}: RSS", 0, name) for name in names),
        *(row(f"{name}: PSS", 1, name) for name in names),
        replace(row("the six: RSS", 0, *names), at_most=TOGETHER_AT_MOST_MB),
        row("the six: PSS", 1, *names),
    ]
