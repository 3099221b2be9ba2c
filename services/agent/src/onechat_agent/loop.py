"""One agent's life: it takes what its queue holds, turn after turn, and is the only writer of its log.

What is taken: domain/taking.py. A turn: turn.py.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from itertools import groupby
from typing import TypeVar

from onechat_runtime import logs
from onechat_runtime.errors import RemoteError

from onechat_agent import sentences
from onechat_agent.adapters import delivery_rows, turn_rows
from onechat_agent.domain.chat import Kind
from onechat_agent.domain.delivery import Delivery
from onechat_agent.domain.taking import Choice
from onechat_agent.domain.turn import Turn
from onechat_agent.log_book import LogBook
from onechat_agent.means import Means
from onechat_agent.patience import committed
from onechat_agent.seat import Seat
from onechat_agent.turn import TurnAtWork

LOOK_AGAIN_S = 600.0  # at the day's limit: a clock that was set is noticed within this time
AGAIN_S = 10.0  # after a fault that no turn could be blamed for
# After a turn during which several came: they come fast, and what comes in this time shares the next turn.
GATHER_S = 1.0

T = TypeVar("T")
log = logs.get("onechat.agent")


class AgentLoop:
    """Runs one agent until cancelled."""

    def __init__(self, means: Means, seat: Seat) -> None:
        self._means = means
        self._seat = seat
        self._turn: TurnAtWork | None = None
        self._writing = asyncio.Lock()  # held by whoever writes the log, or has it exchanged
        self.resting = "idle"  #: for people: what the agent does when no turn is at work

    @property
    def doing(self) -> str:
        """What the agent does now, for people."""
        return self._turn.doing if self._turn else self.resting

    def turn_before(self, before: datetime | None) -> TurnAtWork | None:
        """The turn at work if it began before `before`; None for that is now."""
        if self._turn is None or (before is not None and self._turn.began > before):
            return None
        return self._turn

    async def between_turns(self, reason: str, act: Callable[[], Awaitable[T]]) -> T:
        """Runs `act` while nobody writes the log, which holds all by then that came before.

        A turn at work is stopped for it, for `reason`, and so is each that what is queued would have.
        """
        if self._turn is not None:
            self._turn.stop(reason)
        async with self._writing:
            turn = self._interrupted()
            if turn is not None:  # by a restart; it must not go on over another log
                await committed(
                    self._means.store, self._means.clock, lambda db: turn_rows.ask_stop(db, turn.id, reason)
                )
                await self._run_turn(TurnAtWork(self._means, self._seat))
            await self._end_queued(reason)
            return await act()

    async def _end_queued(self, reason: str) -> None:
        queued = self._means.store.read(lambda db: delivery_rows.queued(db, self._seat.id))
        book = LogBook(self._means, self._seat)
        for wakes, run in groupby(queued, key=lambda delivery: delivery.wakes):
            if not wakes:
                await self._log_without_turn(book, tuple(run))
                continue
            for delivery in run:
                turn = TurnAtWork(self._means, self._seat, [delivery])
                turn.stop(reason)
                await self._run_turn(turn)

    def _interrupted(self) -> Turn | None:
        return self._means.store.read(lambda db: turn_rows.at_work(db, self._seat.id))

    async def run(self) -> None:
        """Lives; a fault ends neither it nor the agents beside it: it is logged, and tried again."""
        await self._live(self._serve)

    async def run_until_idle(self) -> None:
        """The same until nothing is left to do."""
        await self._live(self._serve_until_idle)

    async def _live(self, serve: Callable[[], Awaitable[object]]) -> None:
        while True:
            try:
                await serve()
                return
            except Exception as error:  # noqa: BLE001 - one agent's fault is not the others'
                log.error("agent_broke", agent=self._seat.name, stack=logs.stack_of(error))
                await self._means.clock.sleep(AGAIN_S)

    async def _serve(self) -> None:
        """Serves the queue for good."""
        while True:
            await self._wait(await self._serve_what_is_there())

    async def _serve_until_idle(self) -> None:
        """Serves the queue until it is empty; an incomplete group is waited for."""
        while (look_again := await self._serve_what_is_there()) is not None:
            await self._wait(look_again)

    async def _serve_what_is_there(self) -> datetime | None:
        """First finishes the turn that was interrupted, then serves the queue until nothing can be taken.

        When to look again, where an incomplete group is waited for.
        """
        async with self._writing:
            if self._interrupted() is not None:
                await self._run_turn(TurnAtWork(self._means, self._seat))
        book = LogBook(self._means, self._seat)
        is_first = True
        while True:
            choice = self._choose()
            if len(choice.turn) > 1 and not is_first:
                await self._means.clock.sleep(GATHER_S)
                choice = self._choose()
            if choice.turn and self._is_in_vain(choice.turn):
                await self._log_apart(book, choice.turn)
            elif choice.turn:
                if await self._within_day():
                    async with self._writing:
                        if still := self._still(choice.turn):
                            await self._run_turn(TurnAtWork(self._means, self._seat, still))
                    is_first = False
            elif choice.without_turn:
                await self._log_apart(book, choice.without_turn)
            else:
                return choice.look_again

    def _choose(self) -> Choice:
        return self._means.queue.choose(self._seat.id, one_by_one=bool(self._seat.group))

    def _is_in_vain(self, deliveries: Sequence[Delivery]) -> bool:
        """Whether no model can be had until somebody acts, and nothing of it is the user's.

        Whoever speaks to a group's agent gets an answer, even if it is that there is none.
        """
        waits_for_answer = bool(self._seat.group) or any(
            delivery.backed or delivery.kind is Kind.USER for delivery in deliveries
        )
        return self._means.telling.is_hopeless and not waits_for_answer

    async def _run_turn(self, turn: TurnAtWork) -> None:
        self._turn = turn
        try:
            await turn.run()
        finally:
            self._turn = None

    async def _log_apart(self, book: LogBook, deliveries: tuple[Delivery, ...]) -> None:
        async with self._writing:
            if still := self._still(deliveries):
                await self._log_without_turn(book, still)

    def _still(self, deliveries: Sequence[Delivery]) -> tuple[Delivery, ...]:
        """Those that are queued yet: while the log was waited for, another may have taken its place."""
        queued = self._means.store.read(lambda db: delivery_rows.queued(db, self._seat.id))
        ids = {delivery.id for delivery in queued}
        return tuple(delivery for delivery in deliveries if delivery.id in ids)

    async def _log_without_turn(self, book: LogBook, deliveries: tuple[Delivery, ...]) -> None:
        try:
            await book.deliveries(deliveries)
        except RemoteError:
            if await book.those_it_takes(deliveries):
                await self._means.telling.notice(self._seat, None, sentences.NOT_REMEMBERED)
        await self._means.queue.done_without_turn(deliveries)
        log.info("logged_without_turn", agent=self._seat.name, deliveries=len(deliveries))

    async def _wait(self, until: datetime | None) -> None:
        """Until something comes, or an incomplete group is no longer waited for."""
        news = asyncio.ensure_future(self._means.queue.news(self._seat.id))
        waits = {news}
        if until is not None:
            seconds = max((until - self._means.clock.now()).total_seconds(), 0.0)
            waits.add(asyncio.ensure_future(self._means.clock.sleep(seconds)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _within_day(self) -> bool:
        """Whether today's tokens are not used up; tells so once a day and waits a while when they are."""
        if not self._means.day.holds_turns(self._seat):
            return True
        await self._means.day.tell(self._seat)
        to_tomorrow_s = (self._means.usage.tomorrow() - self._means.clock.now()).total_seconds()
        usual, self.resting = self.resting, "waiting for tomorrow: today's tokens are used up"
        try:
            await self._means.clock.sleep(min(max(to_tomorrow_s, 1.0), LOOK_AGAIN_S))
        finally:
            self.resting = usual
        return False
