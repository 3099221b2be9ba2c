"""How an agent with a tree lives: its log is made, then its folder, it is ready, and its loop runs for good.

Subagents, which come and go: subagents.py. The loop: loop.py. Times are seconds.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError, StartRefused
from onechat_runtime.health import HealthBoard
from onechat_runtime.store import Store

from onechat_agent.adapters import agent_rows
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.loop import AgentLoop
from onechat_agent.patience import Patience, committed
from onechat_agent.seat import Seat

REFUSED_PAUSE_S: Final = 10.0  # until a memory or a disk that refuses an agent's log or folder is asked again

log = logs.get("onechat.agent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What must be there of an agent before it is ready, beside its log."""

    folder: Callable[[], None] = lambda: None  #: makes its folder if it is missing; raises StartRefused
    ready: asyncio.Event = field(default_factory=asyncio.Event)


class Lives:
    """Lives of the root and of children."""

    def __init__(
        self, store: Store, clock: Clock, memory: MemoryClient, patience: Patience, board: HealthBoard
    ) -> None:
        self._store = store
        self._clock = clock
        self._memory = memory
        self._patience = patience
        self._board = board

    def of(self, seat: Seat, loop: AgentLoop, made: Made | None = None) -> Callable[[], Awaitable[None]]:
        """The life of the agent in `seat`."""
        made = made or Made()

        async def live() -> None:
            await self._make_log(seat)
            await self._make_folder(seat, made)
            await committed(self._store, self._clock, lambda db: agent_rows.make_ready(db, seat.id))
            made.ready.set()
            await loop.run()

        return live

    async def _make_folder(self, seat: Seat, made: Made) -> None:
        """Its folder, as soon as the disk lets it be made: the others live on meanwhile."""
        trouble = f"folder.{seat.id}"
        while True:
            try:
                await asyncio.to_thread(made.folder)
            except StartRefused as refused:
                log.error("folder_refused", agent=seat.name)
                self._board.trouble(trouble, str(refused))
                await self._clock.sleep(REFUSED_PAUSE_S)
            else:
                return self._board.clear(trouble)

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
