"""How a turn ends without a reply of the model: by a limit, a failure, or a stop.

However it ends, its deliveries are in the log and done, and the user can tell why.
"""

import secrets
from collections.abc import Sequence
from datetime import datetime

from onechat_runtime import logs

from onechat_agent import sentences
from onechat_agent.calls import STOPPED_RESULT, Calls
from onechat_agent.domain.chat import View
from onechat_agent.domain.delivery import Delivery, TurnId
from onechat_agent.domain.turn import Turn, TurnState
from onechat_agent.log_book import LogBook
from onechat_agent.means import Means
from onechat_agent.model.failures import ModelFailure
from onechat_agent.model.items import TokenUsage
from onechat_agent.resume import read_back
from onechat_agent.seat import Seat
from onechat_agent.turn_store import TurnStore

log = logs.get("onechat.agent")


def fresh_turn(seat: Seat, now: datetime, deliveries: Sequence[Delivery], view: View | None) -> Turn:
    """A turn that begins now with its view frozen; without one it can only end."""
    return Turn(
        id=TurnId(secrets.token_hex(8)),
        agent=seat.id,
        state=TurnState.BEGUN,
        begin_time=now,
        log_start=view.length if view else 0,
        generation=view.generation if view else 0,
        view=view.text if view else "",
        state_block=seat.state(now),
        backed=all(delivery.backed for delivery in deliveries),
        tainted=any(delivery.tainted for delivery in deliveries),
        start_length=view.length if view else 0,
    )


class Ends:
    """The ends of one turn."""

    def __init__(
        self, means: Means, seat: Seat, store: TurnStore, book: LogBook, new: Sequence[Delivery]
    ) -> None:
        """`new`: what a fresh turn takes, for one that ends before it had its view."""
        self._means = means
        self._seat = seat
        self._store = store
        self._book = book
        self._new = new

    async def by_limit(self, sentence: str) -> None:
        """The sentence is logged as the reply, so that "continue" finds the task."""
        turn = await self._turn_with_its_deliveries()
        await self._book.ending(turn.id, sentence)
        await self._store.end(turn.id, TurnState.ENDED, reply=sentence)
        log.info("turn_ended_by_limit", agent=self._seat.name, turn=turn.id)

    async def by_failure(self, failure: ModelFailure | None) -> None:
        """One line to the user; one that lasts is told once until a call succeeds. None: a fault of ours."""
        turn = await self._turn_with_its_deliveries()
        sentence = failure.sentence if failure else sentences.OWN_FAULT
        told = failure is None or not failure.lasting or self._means.telling.first_time(failure.code)
        if failure is not None and failure.usage != TokenUsage():
            self._store.unwritten.used.append((self._seat.model, failure.usage))
        await self._store.end(turn.id, TurnState.FAILED, notice=sentence if told else None, reason=sentence)

    async def by_stop(self, reason: str) -> None:
        """Open calls get their result; from its first commit on the turn can only end as stopped."""
        turn = await self._turn_with_its_deliveries(stop_reason=reason)
        if turn.view:
            resumed = await read_back(self._means, self._seat, turn, again=False)
            calls = Calls(self._means, self._seat, turn.id, backed=turn.backed)
            for call in resumed.open_calls:
                await calls.log_result(call, STOPPED_RESULT)
        await self._store.end(turn.id, TurnState.STOPPED, reason=reason)
        log.info("turn_stopped", agent=self._seat.name, turn=turn.id)

    async def _turn_with_its_deliveries(self, stop_reason: str | None = None) -> Turn:
        """The turn, also one that has had no view; all its deliveries are in the log."""
        turn = self._store.at_work()
        if turn is None:
            turn = fresh_turn(self._seat, self._means.clock.now(), self._new, None)
            await self._store.begin(turn, (), self._new)
        if stop_reason is not None:
            await self._store.ask_stop(turn.id, stop_reason)
        hidden, shown = self._store.deliveries(turn.id)
        await self._book.deliveries([*hidden, *shown])
        return turn
