"""GetView's wait: a view is given once all its lines are built, or when the caller's time is up.

What a view is: domain/view.py. How it is fitted and shown: chat_log.py.
"""

from functools import partial

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.store import Store

from onechat_memory.adapters.log_store import LogRow, LogStore
from onechat_memory.adapters.tree_store import TreeStore, Which
from onechat_memory.bells import Bells, whole
from onechat_memory.chat_logs import ChatLogs
from onechat_memory.domain.leases import LogId
from onechat_memory.domain.lines import PLACEHOLDER_SIZE, shown, shown_view
from onechat_memory.domain.messages import Shape, State
from onechat_memory.domain.shown import ShownView
from onechat_memory.domain.text import size
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

        It is fitted after the wait, since thousands of lines can have been built meanwhile. A log that was
        set aside is shown as it stood, at once, for nothing changes it. Raises LogUnknown, LogIsFlat,
        StoreFull.
        """
        end = self._clock.monotonic() + wait_s
        while True:
            with self._bells.listening(whole(log)) as bell:
                row, stood = self._store.read(partial(_look, log))
                left_s = end - self._clock.monotonic()
                if row.unbuilt_leaves and left_s > 0 and stood is None:
                    await bell.rung(left_s)
                elif (given := stood or self._logs.given_view(row)) is not None:
                    return given
            shown = await self._logs.fitted_view(log)
            # An append can have come between the bell and the fit.
            if shown.whole or self._clock.monotonic() >= end:
                return shown


def _look(log: LogId, db: apsw.Connection) -> tuple[LogRow, ShownView | None]:
    """The row of `log`, and its view if it was set aside."""
    row = LogStore(db).log(log)
    if row is None:
        raise LogUnknown
    if row.asked.shape is Shape.FLAT:
        raise LogIsFlat
    return row, _as_it_stood(row, db) if row.asked.state is State.KEPT else None


def _as_it_stood(row: LogRow, db: apsw.Connection) -> ShownView:
    lines = list(TreeStore(db, row.number).lines(Which.CHAT, row.length))
    return ShownView(
        text=shown_view(shown(node, text) for node, text in lines),
        length=row.length,
        generation=row.generation,
        revision=row.revision,
        lines=len(lines),
        unbuilt=sum(text is None for _, text in lines),
        size=sum(PLACEHOLDER_SIZE if text is None else size(text) for _, text in lines),
    )
