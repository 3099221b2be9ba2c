"""All five services together: started at once, ended together, one refusal ends all. Times are seconds."""

import asyncio
import signal
from collections.abc import Sequence
from typing import Final

from onechat_cli.up.service import Refused, Service

END_S: Final = 10.0


async def keep(services: Sequence[Service], stop: asyncio.Event) -> tuple[str, str] | None:
    """Run `services` until `stop` is set, or until one refuses to start: then its name and its words.

    However it ends, every child has ended when it returns.
    """
    tasks: dict[asyncio.Task[None], Service] = {}
    for service in services:
        tasks[asyncio.create_task(service.keep())] = service
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait([*tasks, stopping], return_when=asyncio.FIRST_COMPLETED)
        for task in (task for task in tasks if task.done()):
            error = task.exception()
            if not isinstance(error, Refused):
                task.result()
            return tasks[task].name, str(error)
        return None
    finally:
        stopping.cancel()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(service.end(END_S) for service in services))


def on_signals(stop: asyncio.Event) -> None:
    """Set `stop` when this process is asked to end."""
    loop = asyncio.get_running_loop()
    for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(one, stop.set)
