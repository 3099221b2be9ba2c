"""How a turn ends without a reply of the model: by a limit, a failure, a stop, or a fault of ours.

However it ends, its deliveries are in the log and done, and the user can tell why. A turn that is over
already, because its end was committed as it was stopped, stays as it is.
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
from onechat_agent.model.failures import Filtered, ModelFailure, Refused, TooLong
from onechat_agent.model.items import TokenUsage
from onechat_agent.resume import read_back
from onechat_agent.seat import Seat
from onechat_agent.turn_store import TurnStore

log = logs.get("onechat.agent")


class EndedByLimit(Exception):
    """The turn has met a limit; its text is the sentence for the user."""


def fresh_turn(
    seat: Seat,
    now: datetime,
    deliveries: Sequence[Delivery],
    view: View | None,
    *,
    stop_reason: str | None = None,
) -> Turn:
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
        stop_reason=stop_reason,
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

    @property
    def _is_users(self) -> bool:
        """Whether the user hears of the agent's turns, and not another agent, who passes it on."""
        return self._seat.parent is None

    async def by_limit(self, sentence: str) -> None:
        """The sentence is logged as the reply, so that "continue" finds the task."""
        turn = self._store.at_work()
        if turn is None:
            return
        await self._book.deliveries(self._all_of(turn))
        await self._book.ending(turn.id, sentence)
        await self._store.end(turn.id, TurnState.ENDED, reply=sentence)
        log.info("turn_ended_by_limit", agent=self._seat.name, turn=turn.id)

    async def by_failure(self, failure: ModelFailure) -> None:
        """One line, to the user or to whose the agent is.

        One that lasts is told to the user, whosever the agent is, and once until a call succeeds.
        """
        turn = self._store.at_work()
        if turn is None and self._store.begun:
            return
        await self._book.deliveries(self._new if turn is None else self._all_of(turn))
        told = self._is_users
        if failure.lasting:  # it fails the next ones too, also that of whoever gets the report
            told = self._means.telling.first_time(failure.code, failure)
        sentence = failure.sentence
        if self._seat.group:
            sentence, told = await self._said_in_group(failure, told), True
        if failure.usage != TokenUsage():
            self._store.unwritten.used.append((self._seat.model, failure.usage))
        await self._fail(turn, sentence, told=told)

    async def _said_in_group(self, failure: ModelFailure, tell_user: bool) -> str:
        """What members read: of the answer itself all, of keys, models and settings nothing."""
        if isinstance(failure, Refused | Filtered | TooLong):
            return failure.sentence
        if failure.lasting and tell_user:
            await self._means.telling.notice(self._seat, None, failure.sentence)
        return sentences.GROUP_NO_ANSWER

    async def by_fault(self) -> None:
        """After a fault of onechat itself: what the memory takes is logged, and the turn ends all the same.

        A message that the memory refuses must not hold those after it, nor end the service at each start.
        """
        turn = self._store.at_work()
        if turn is None and self._store.begun:
            return
        await self._book.those_it_takes(self._new if turn is None else self._all_of(turn))
        self._store.unwritten.taint = turn is not None  # nobody knows what the log holds of it by now
        sentence = sentences.GROUP_NO_ANSWER if self._seat.group else sentences.OWN_FAULT
        await self._fail(turn, sentence, told=self._is_users)

    async def by_stop(self, reason: str) -> None:
        """Open calls get their result; from its first commit on the turn can only end as stopped."""
        turn = self._store.at_work()
        if turn is None:
            if self._store.begun:
                return
            turn = self._fresh(stop_reason=reason)
            await self._store.begin(turn, (), self._new)
        elif turn.stop_reason is None:
            await self._store.ask_stop(turn.id, reason)
        await self._book.deliveries(self._all_of(turn))
        if turn.view:
            resumed = await read_back(self._means, self._seat, turn, again=False)
            # What one call gave while others still ran was never taken in: a subagent's later turns show it.
            self._store.unwritten.taint = self._store.unwritten.taint or resumed.tainted
            calls = Calls(self._means, self._seat, turn.id, backed=turn.backed)
            for call in resumed.open_calls:
                await calls.log_result(call, STOPPED_RESULT)
        await self._store.end(turn.id, TurnState.STOPPED, reason=reason)
        log.info("turn_stopped", agent=self._seat.name, turn=turn.id)

    async def _fail(self, turn: Turn | None, sentence: str, *, told: bool) -> None:
        one = turn or self._fresh()
        await self._store.end(
            one.id,
            TurnState.FAILED,
            notice=sentence if told else None,
            reason=sentence,
            fresh=(one, self._new) if turn is None else None,
        )

    def _fresh(self, stop_reason: str | None = None) -> Turn:
        """The turn of what was never begun, for a turn is what a delivery ends in."""
        return fresh_turn(self._seat, self._means.clock.now(), self._new, None, stop_reason=stop_reason)

    def _all_of(self, turn: Turn) -> list[Delivery]:
        hidden, shown = self._store.deliveries(turn.id)
        return [*hidden, *shown]
