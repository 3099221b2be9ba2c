"""A deleted log's rows go bit by bit, so that no other log's write waits for long. Nothing wakes in between.

Which rows, and in which order: adapters/upkeep_store.py. After a restart it goes on from what is still there.
"""

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import StoreFull
from onechat_runtime.store import Store

from onechat_memory.adapters.upkeep_store import UpkeepStore
from onechat_memory.bells import APPENDED, REMOVAL, Bells

REST_S = 60.0  #: until the next try after the store could not be written

log = logs.get("onechat.memory")


class Removing:
    """Removes what deleted logs have left."""

    def __init__(self, store: Store, bells: Bells, clock: Clock) -> None:
        self._store = store
        self._bells = bells
        self._clock = clock

    async def run(self) -> None:
        """Remove what is there now and whatever is deleted later, until cancelled."""
        while True:
            with self._bells.listening(REMOVAL) as bell:
                try:
                    # One step a commit: the writes that came meanwhile go before the next one.
                    removed = False
                    while await self._store.write(lambda db: UpkeepStore(db).remove_some()):
                        removed = True
                    if removed:
                        self._bells.ring(APPENDED)  # merging gives back what its words took in the index
                except (StoreFull, apsw.Error) as error:
                    # A log that is gone for every call is no reason to end them all.
                    log.warning("removal_waits", error=type(error).__name__, again_s=REST_S)
                    await self._clock.sleep(REST_S)
                else:
                    await bell.rung(None)
