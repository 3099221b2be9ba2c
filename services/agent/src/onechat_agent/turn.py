"""One turn of an agent, from its deliveries to its end; also one that a restart has interrupted.

The order of what is committed where is the table in docs/design/turns.md: memory before the agent wherever
both do. Transactions: turn_store.py. Steps: turn_steps.py. What calls hold: turn_input.py. After a restart:
taking_up.py. Other ends than a reply: turn_ends.py.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from onechat_runtime import logs

from onechat_agent import sentences
from onechat_agent.domain.delivery import Delivery, TurnId
from onechat_agent.domain.taking import whole_ones
from onechat_agent.domain.turn import Turn
from onechat_agent.log_book import LogBook
from onechat_agent.means import Means
from onechat_agent.model.failures import ModelFailure
from onechat_agent.seat import Seat
from onechat_agent.taking_up import TakingUp
from onechat_agent.turn_ends import EndedByLimit, Ends, fresh_turn
from onechat_agent.turn_input import TurnInput
from onechat_agent.turn_steps import Steps
from onechat_agent.turn_store import TurnStore

log = logs.get("onechat.agent")


class TurnAtWork:
    """Runs one turn; made new for each."""

    def __init__(self, means: Means, seat: Seat, deliveries: Sequence[Delivery] = ()) -> None:
        """`deliveries`: what a fresh turn takes; none for one that a restart has interrupted."""
        self._means = means
        self._seat = seat
        self._new = tuple(deliveries)
        self._store = TurnStore(means, seat)
        self._book = LogBook(means, seat)
        self._ends = Ends(means, seat, self._store, self._book, self._new)
        self._began_s = means.clock.monotonic()
        self._age_before_s = 0.0  # of a turn that a restart has interrupted
        self._input = TurnInput(means, seat, self._store)
        self._steps = Steps(means, seat, self._store, self._book, self._input, began_s=self._began_s)
        self._stop_reason: str | None = None
        self._task: asyncio.Task[None] | None = None
        self.id: TurnId | None = None  #: None before it has its view

    @property
    def doing(self) -> str:
        """What it does now, for people."""
        return self._steps.doing

    @property
    def began(self) -> datetime:
        """When it was picked up, by the wall clock as it goes now: one that was set back stops no stop."""
        age_s = self._age_before_s + self._means.clock.monotonic() - self._began_s
        return self._means.clock.now() - timedelta(seconds=age_s)

    @property
    def deliveries(self) -> Sequence[Delivery]:
        """What it has taken so far."""
        if self.id is None:
            return self._new
        hidden, shown = self._store.deliveries(self.id)
        return [*hidden, *shown] or self._new  # it may be about to be on disk

    async def run(self) -> None:
        """Runs the turn to its end. Cancelling it leaves the turn to be taken up at the next start."""
        if self._stop_reason is not None and self._new:  # it was stopped before it began
            return await self._end_by_stop()
        self._task = asyncio.ensure_future(self._work())
        try:
            await asyncio.wait({self._task})
        except asyncio.CancelledError:
            self._task.cancel()
            await asyncio.wait({self._task})
            raise
        if self._task.cancelled():
            return await self._end_by_stop()
        return self._task.result()

    async def _end_by_stop(self) -> None:
        try:
            await self._ends.by_stop(self._stop_reason or sentences.STOPPED)
        except Exception as error:  # noqa: BLE001 - as in _work
            await self._broke(error)

    def stop(self, reason: str = sentences.STOPPED) -> None:
        """Ends the turn: its stream is closed, its tools are ended, what was logged stays."""
        self._stop_reason = reason
        if self._task is not None:
            self._task.cancel()

    # ------------------------------------------------------------ begin, or taken up again

    async def _work(self) -> None:
        try:
            await self._whole_turn()
        except Exception as error:  # noqa: BLE001 - a bug ends its turn, not its agent
            await self._broke(error)

    async def _broke(self, error: Exception) -> None:
        log.error("turn_broke", agent=self._seat.name, stack=logs.stack_of(error))
        await self._ends.by_fault()

    async def _whole_turn(self) -> None:
        turn = self._store.at_work()
        try:
            if turn is None:
                turn = await self._begin()
            elif not await self._take_up(turn):
                return
            await self._steps.run(turn)
        except EndedByLimit as limit:
            await self._ends.by_limit(str(limit))
        except ModelFailure as failure:
            log.warning("turn_failed", agent=self._seat.name, code=failure.code)
            await self._ends.by_failure(failure)

    async def _begin(self) -> Turn:
        """The turn with its view frozen, its deliveries in the log and in what its calls hold."""
        early, whole = whole_ones(self._new, self._seat.limits.deliveries_bytes)
        await self._book.deliveries(early)
        view = await self._means.views.whole(self._seat)
        turn = fresh_turn(self._seat, self._means.clock.now(), self._new, view)
        if self._input.own_log is not None:
            turn = await self._input.own_log.begun(turn)
        self.id = turn.id
        await self._store.begin(turn, early, whole)
        log.info("turn_begun", agent=self._seat.name, turn=turn.id, deliveries=len(self._new))
        self._steps.tainted = turn.tainted
        await self._book.deliveries(self._new)
        await self._input.open(turn, early, whole)
        return turn

    async def _take_up(self, turn: Turn) -> bool:
        """Whether the interrupted `turn` goes on."""
        self.id = turn.id
        age = self._means.clock.now() - turn.begin_time
        self._age_before_s = max(age.total_seconds(), 0.0)
        if turn.stop_reason is not None:
            await self._ends.by_stop(turn.stop_reason)
            return False
        taking_up = TakingUp(self._means, self._seat, self._store, self._book, self._input, self._steps)
        return await taking_up.take_up(turn)
