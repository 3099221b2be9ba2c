"""Whether a service on this machine serves: GET /healthz beside its port. Times are seconds."""

import asyncio
from collections.abc import Callable
from typing import Final

from onechat_runtime.clock import Clock
from onechat_runtime.settings import METRICS_ABOVE

_LOOK_S: Final = 0.1  # between two looks at a service that starts
_ANSWER_S: Final = 2.0


async def serves(address: str) -> bool:
    """Whether the service that listens at `address` says that it serves."""
    try:
        async with asyncio.timeout(_ANSWER_S):
            reader, writer = await _connect(address)
            try:
                writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                return (await reader.readline()).split()[1:2] == [b"200"]
            finally:
                writer.close()
    except (OSError, TimeoutError, ValueError):
        return False


async def until_serving(address: str, clock: Clock) -> None:
    """Return once the service at `address` serves; never, where it does not come."""
    while not await serves(address):
        await clock.sleep(_LOOK_S)


async def until_serving_all(addresses: dict[str, str], clock: Clock, came: Callable[[str], None]) -> None:
    """Return once all of `addresses` (by name) serve; `came` hears each name as it does."""

    async def wait(name: str, address: str) -> None:
        await until_serving(address, clock)
        came(name)

    async with asyncio.TaskGroup() as group:
        for name, address in addresses.items():
            group.create_task(wait(name, address))


async def listens(address: str) -> bool:
    """Whether anything takes connections at `address` itself."""
    try:
        async with asyncio.timeout(_ANSWER_S):
            if address.startswith("unix:"):
                _, writer = await asyncio.open_unix_connection(address.removeprefix("unix:"))
            else:
                host, _, port = address.rpartition(":")
                _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
            writer.close()
            return True
    except (OSError, TimeoutError):
        return False


async def _connect(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if address.startswith("unix:"):
        return await asyncio.open_unix_connection(f"{address.removeprefix('unix:')}.http")
    port = int(address.rpartition(":")[2]) + METRICS_ABOVE
    if port > 65535:
        raise ValueError("this service's pages have no fixed port")
    return await asyncio.open_connection("127.0.0.1", port)
