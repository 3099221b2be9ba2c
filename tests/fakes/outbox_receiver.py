"""What an outbox hands over to, and the chance it has: both do as a test says."""

import asyncio
import random


class Receiver:
    """The other service: keeps what it was handed, in order, and fails as it is told."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, bytes]] = []
        self.asked: list[str] = []  #: keys, whether taken or not
        self.failures: dict[str, list[Exception]] = {}
        self.came = asyncio.Event()
        self.closed: asyncio.Event | None = None  #: what it waits for, if it is to wait

    def fail(self, key: str, error: Exception, times: int = 10**9) -> None:
        """Raise `error` so many times for `key`."""
        self.failures[key] = [error] * min(times, 1000)

    async def take(self, key: str, body: bytes) -> bytes:
        self.asked.append(key)
        self.came.set()
        if self.closed is not None:
            await self.closed.wait()
        if self.failures.get(key):
            raise self.failures[key].pop()
        self.taken.append((key, body))
        return f"answer to {key}".encode()


class Steady(random.Random):
    """No jitter."""

    def uniform(self, a: float, b: float) -> float:
        return 1.0
