"""All five services together: started at once, ended together, one refusal ends all. Times are seconds."""

import asyncio
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from onechat_cli.up.service import Refused, Service

END_S: Final = 10.0
ALSO_S: Final = 5.0  # for the others to refuse as well, so that a person hears of every fault at once


async def keep(services: Sequence[Service], stop: asyncio.Event) -> list[tuple[str, str]]:
    """Run `services` until `stop` is set, or until one refuses to start: then names and words of all that do.

    However it ends, every child has ended when it returns.
    """
    tasks: dict[asyncio.Task[None], Service] = {}
    for service in services:
        tasks[asyncio.create_task(service.keep())] = service
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait([*tasks, stopping], return_when=asyncio.FIRST_COMPLETED)
        await _settled(tasks, stopping)
        return [(tasks[task].name, _words(task)) for task in tasks if task.done()]
    finally:
        stopping.cancel()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(service.end(END_S) for service in services))


async def _settled(tasks: Mapping[asyncio.Task[None], Service], stopping: "asyncio.Task[bool]") -> None:
    """Return once each service has refused or serves, or all are to stop, or the time for that is over."""

    async def one(task: asyncio.Task[None], service: Service) -> None:
        serving = asyncio.create_task(service.ready.wait())
        try:
            await asyncio.wait({task, serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            serving.cancel()

    with suppress(TimeoutError):
        async with asyncio.timeout(ALSO_S):
            await asyncio.gather(*(one(task, service) for task, service in tasks.items()))


def _words(task: asyncio.Task[None]) -> str:
    """What a service that refused said; raises what it failed with otherwise."""
    error = task.exception()
    if not isinstance(error, Refused):
        task.result()
    return str(error)


def on_signals(stop: asyncio.Event) -> None:
    """Set `stop` when this process is asked to end."""
    loop = asyncio.get_running_loop()
    for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(one, stop.set)
