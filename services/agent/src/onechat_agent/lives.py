"""How an agent with a tree lives: its log is made, it is ready, and then its loop runs for good.

Subagents, which come and go: subagents.py. The loop: loop.py. Times are seconds.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError
from onechat_runtime.store import Store

from onechat_agent.adapters import agent_rows
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.loop import AgentLoop
from onechat_agent.patience import Patience, committed
from onechat_agent.seat import Seat

REFUSED_PAUSE_S: Final = 10.0  # until a memory that refuses an agent's log is asked again

log = logs.get("onechat.agent")


class Lives:
    """Lives of the root and of children."""

    def __init__(self, store: Store, clock: Clock, memory: MemoryClient, patience: Patience) -> None:
        self._store = store
        self._clock = clock
        self._memory = memory
        self._patience = patience

    def of(self, seat: Seat, loop: AgentLoop) -> Callable[[], Awaitable[None]]:
        """The life of the agent in `seat`."""

        async def live() -> None:
            await self._make_log(seat)
            await committed(self._store, self._clock, lambda db: agent_rows.make_ready(db, seat.id))
            await loop.run()

        return live

    async def _make_log(self, seat: Seat) -> None:
        """Its log, also where the memory refuses it for a while: no restart of ours would mend that.

        Raises StartRefused where the memory holds another kind of log under its id.
        """
        while True:
            try:
                return await self._patience.get("log", lambda: self._memory.create_log(seat.id, seat.name))
            except RemoteError as error:
                log.error("log_refused", agent=seat.name, code=error.code.name, reason=error.reason)
                await self._clock.sleep(REFUSED_PAUSE_S)
