"""When the index of words is filled: when no message has come for a moment, and before a search answers.

Inside the append it would cost half to two thirds of the rate. It goes in steps of some milliseconds, each a
commit of its own, so that no append waits for long; a step's words and the log's mark are one transaction.
Times are seconds.
"""

from typing import Final

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import StoreFull
from onechat_runtime.store import Store

from onechat_memory.adapters.search import Progress, SearchStore
from onechat_memory.bells import APPENDED, Bells

QUIET_S: Final = 1.0  #: without a new message; then the writer is idle
REST_S: Final = 60.0  #: until the next try after the index could not be written

log = logs.get("onechat.memory")


class Indexing:
    """Takes messages' words into the index, step by step."""

    def __init__(self, store: Store, bells: Bells, clock: Clock) -> None:
        """`clock` tells when the writer is idle."""
        self._store = store
        self._bells = bells
        self._clock = clock
        self._last = 0  # number of the log whose turn it was last

    async def step(self, number: int) -> Progress | None:
        """Take in some words of the log called `number`; how far it is, None when it is not there any more.

        Raises StoreFull.
        """
        progress = await self._store.write(lambda db: SearchStore(db).take_in(number))
        # A little after each step, so that a long fill leaves few places to look in.
        await self._merge()
        return progress

    async def _merge(self) -> bool:
        return await self._store.write(lambda db: SearchStore(db).merge())

    async def run(self) -> None:
        """Fill the index whenever the writer is idle, until cancelled. Nothing wakes when all is in it."""
        while True:
            await self._quiet()
            with self._bells.listening(APPENDED) as bell:
                try:
                    while not bell.rang and await self._idle_step():
                        pass
                except (StoreFull, apsw.Error) as error:
                    # A search that fails is no reason to end every chat.
                    log.warning("indexing_waits", error=type(error).__name__, again_s=REST_S)
                    await self._clock.sleep(REST_S)
                else:
                    await bell.rung(None)

    async def _quiet(self) -> None:
        """Return once no message has come for QUIET_S, or a little longer."""
        while True:
            with self._bells.listening(APPENDED) as bell:
                await self._clock.sleep(QUIET_S)
                if not bell.rang:
                    return

    async def _idle_step(self) -> bool:
        """A step of the log whose turn it is, or of merging that is due; whether there was anything to do."""
        number = self._store.read(lambda db: SearchStore(db).behind(self._last))
        if number is None:
            return await self._merge()
        self._last = number
        await self.step(number)
        return True
