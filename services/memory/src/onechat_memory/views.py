"""GetView's wait: a view is given once all its lines are built, or when the caller's time is up.

What a view is: domain/view.py. How it is fitted and shown: chat_log.py.
"""

from onechat_runtime.clock import Clock
from onechat_runtime.store import Store

from onechat_memory.adapters.log_store import LogStore
from onechat_memory.bells import Bells, whole
from onechat_memory.chat_log import ShownView
from onechat_memory.chat_logs import ChatLogs
from onechat_memory.domain.leases import LogId
from onechat_memory.domain.messages import Shape
from onechat_memory.errors import LogIsFlat, LogUnknown


class WaitedViews:
    """Views for turns."""

    def __init__(self, store: Store, logs: ChatLogs, bells: Bells, clock: Clock) -> None:
        self._store = store
        self._logs = logs
        self._bells = bells
        self._clock = clock

    async def view(self, log: LogId, wait_s: float) -> ShownView:
        """The chat's view, fitted, after at most `wait_s` for lines that are not built.

        It is fitted after the wait, since thousands of lines can have been built meanwhile. Raises
        LogUnknown, LogIsFlat, StoreFull.
        """
        end = self._clock.monotonic() + wait_s
        while True:
            with self._bells.listening(whole(log)) as bell:
                if self._unbuilt_leaves(log):
                    await bell.rung(end - self._clock.monotonic())
            shown = await self._logs.fitted_view(log)
            # An append can have come between the bell and the fit.
            if shown.whole or self._clock.monotonic() >= end:
                return shown

    def _unbuilt_leaves(self, log: LogId) -> int:
        row = self._store.read(lambda db: LogStore(db).log(log))
        if row is None:
            raise LogUnknown
        if row.asked.shape is Shape.FLAT:
            raise LogIsFlat
        return row.unbuilt_leaves
