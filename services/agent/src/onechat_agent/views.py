"""Waiting for an agent's view until every line of it is built.

Lines are built by the compactor; what keeps it from building them ends the wait where waiting is no use, and
an agent whose lines wait for tomorrow says so.
"""

import asyncio
from typing import Final

from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.compactor import Compactor
from onechat_agent.day_limit import DayLimit
from onechat_agent.domain.chat import View
from onechat_agent.patience import Patience
from onechat_agent.seat import Seat
from onechat_agent.telling import Telling

WAIT_S: Final = 20.0  # one call's wait; the next follows at once
OTHERS_WAITS: Final = 3  # calls that a subagent waits for its owner's lines


class Views:
    """Whole views for turns."""

    def __init__(
        self, memory: MemoryClient, compactor: Compactor, day: DayLimit, patience: Patience, telling: Telling
    ) -> None:
        self._memory = memory
        self._compactor = compactor
        self._day = day
        self._patience = patience
        self._telling = telling

    async def whole(self, seat: Seat) -> View:
        """The view that the agent's turns show, every line built. Raises ModelFailure when none can be built.

        What is away for a while is waited for: the compactor goes on by itself. A subagent waits a minute:
        its owner, who is at work, may say new things faster than lines are built, and the mark of a line that
        is not built says how to read it.
        """
        waits_left = None if seat.owner is None else OTHERS_WAITS
        asked, seat = seat, seat.view_of
        self._compactor.try_now()

        async def away() -> None:
            await self._telling.memory_away(asked)

        failing = asyncio.ensure_future(self._compactor.lasting_failure())
        reading: asyncio.Future[View] | None = None
        try:
            while True:
                reading = asyncio.ensure_future(
                    self._patience.get("view", lambda: self._read(seat), away=away)
                )
                await asyncio.wait({reading, failing}, return_when=asyncio.FIRST_COMPLETED)
                if not reading.done():
                    reading.cancel()
                    view = await self._patience.get("view", lambda: self._read(seat, wait_s=0))
                    if not view.whole:
                        raise failing.result()
                    return view
                waits_left = None if waits_left is None else waits_left - 1
                if reading.result().whole or waits_left == 0:
                    return reading.result()
                if self._day.holds_lines(seat):
                    await self._day.tell(seat)
        finally:
            failing.cancel()
            if reading is not None:
                reading.cancel()  # else it would go on asking a memory that is away, for nobody

    async def _read(self, seat: Seat, wait_s: float = WAIT_S) -> View:
        return await self._memory.view(seat.id, wait_s)
