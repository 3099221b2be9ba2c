"""The demo model in a process of its own, and its control endpoint: it outlives the services that are killed.

What it answers and how it is directed: demo/README.md. Times are seconds.
"""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from tests.fakes.five_services import LOOK_S, Forked, Forks, free_addresses, until


class ModelProcess:
    """A running demo model."""

    def __init__(self, process: Forked, address: str, session: aiohttp.ClientSession) -> None:
        self.base_url = f"http://{address}/v1"
        self.process = process
        self._control = f"http://{address}/control"
        self._session = session
        self._seen = 0
        self._refusals: list[str] = []

    async def script(self, *scripts: dict[str, Any]) -> None:
        """Have it do these things, each once for the next request that fits."""
        async with self._session.post(f"{self._control}/script", json=list(scripts)) as answer:
            assert answer.status == 200, await answer.text()

    async def forget_scripts(self) -> None:
        """From now on the rules answer again."""
        async with self._session.delete(f"{self._control}/script") as answer:
            assert answer.status == 200

    async def reached(self, gate: str, within_s: float = 30.0) -> None:
        """Return once a request waits at `gate`, or did."""
        async with asyncio.timeout(within_s):
            while not await self._is_reached(gate):
                await asyncio.sleep(LOOK_S)

    async def _is_reached(self, gate: str) -> bool:
        async with self._session.get(f"{self._control}/gate/{gate}") as answer:
            return bool((await answer.json())["reached"])

    async def open(self, gate: str) -> None:
        """Let through what waits at `gate`."""
        async with self._session.post(f"{self._control}/gate/{gate}") as answer:
            assert answer.status == 200

    async def requests(self, after: int = 0) -> list[dict[str, Any]]:
        """What came, whole, without the first `after`."""
        async with self._session.get(f"{self._control}/requests", params={"after": after}) as answer:
            found: list[dict[str, Any]] = await answer.json()
            return found

    async def refusals(self) -> list[str]:
        """Why requests were refused so far: each says which rule of the API it broke."""
        new = await self.requests(self._seen)
        self._seen += len(new)
        self._refusals += [one["refusal"] for one in new if one["refusal"]]
        return self._refusals


@asynccontextmanager
async def model_process(forks: Forks, folder: Path, *arguments: str) -> AsyncIterator[ModelProcess]:
    """The demo model on a free port; `arguments` are the command's."""
    (address,) = free_addresses(1)
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "demo.log"
    process = forks.start(
        "demo",
        environ={},
        folder=folder,
        log=log,
        arguments=["--port", address.rpartition(":")[2], "--control", *arguments],
    )
    try:
        await until(lambda: log.exists() and "address" in log.read_text(), what="no demo model")
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as session:
            yield ModelProcess(process, address, session)
    finally:
        process.signal(signal.SIGTERM)
        await process.end()
