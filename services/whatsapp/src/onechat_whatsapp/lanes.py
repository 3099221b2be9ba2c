"""One at a time for each key, in the order of asking."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Lane:
    free: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0  #: who is in it or waits for it


class Lanes:
    """A lane for each key that is in use; none is kept for one that is not."""

    def __init__(self) -> None:
        self._lanes: dict[str, _Lane] = {}

    @property
    def kept(self) -> int:
        """How many keys are in use."""
        return len(self._lanes)

    @asynccontextmanager
    async def of(self, key: str) -> AsyncIterator[None]:
        """The lane of `key`, once those who asked before are out of it."""
        lane = self._lanes.setdefault(key, _Lane())
        lane.users += 1
        try:
            async with lane.free:
                yield
        finally:
            lane.users -= 1
            if not lane.users:
                del self._lanes[key]
