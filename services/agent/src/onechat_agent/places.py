"""A bounded number of places, given in the order in which they were asked for.

For subagents, of which only so many work at once. Belongs to one event loop.
"""

import asyncio

from onechat_agent.domain.chat import AgentId


class Places:
    """Who has a place, and who stands in line for one."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._taken: set[AgentId] = set()
        self._line: dict[AgentId, asyncio.Future[bool]] = {}

    def __contains__(self, who: AgentId) -> bool:
        """Whether `who` has a place."""
        return who in self._taken

    @property
    def free(self) -> int:
        """How many places nobody has."""
        return self.count - len(self._taken)

    async def take(self, who: AgentId) -> bool:
        """Waits for a place; False when `leave` came first."""
        if who in self._taken or (not self._line and len(self._taken) < self.count):
            self._taken.add(who)
            return True
        called: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._line[who] = called
        try:
            return await called
        except asyncio.CancelledError:
            self.leave(who)
            raise

    def leave(self, who: AgentId) -> None:
        """Gives the place back, or leaves the line."""
        left = self._line.pop(who, None)
        if left is not None and not left.done():
            left.set_result(False)
        self._taken.discard(who)
        while self._line and len(self._taken) < self.count:
            first = next(iter(self._line))
            called = self._line.pop(first)
            if not called.done():
                self._taken.add(first)
                called.set_result(True)
