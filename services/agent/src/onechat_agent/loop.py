"""One agent's life: it takes what its queue holds, turn after turn, and is the only writer of its log.

What is taken: domain/delivery.py. A turn: turn.py.
"""

import asyncio
from datetime import datetime

from onechat_runtime import logs

from onechat_agent import sentences
from onechat_agent.adapters import agent_rows, turn_rows
from onechat_agent.domain.delivery import Delivery, choose
from onechat_agent.log_book import LogBook
from onechat_agent.means import Means
from onechat_agent.seat import Seat
from onechat_agent.turn import TurnAtWork

LOOK_AGAIN_S = 600.0  # at the day's limit: a raised limit or a new day is noticed within this time

log = logs.get("onechat.agent")


class AgentLoop:
    """Runs one agent until cancelled."""

    def __init__(self, means: Means, seat: Seat) -> None:
        self._means = means
        self._seat = seat
        self._turn: TurnAtWork | None = None

    @property
    def doing(self) -> str:
        """What the agent does now, for people."""
        return self._turn.doing if self._turn else "idle"

    def stop(self, before: datetime) -> bool:
        """Ends the turn at work if it began before `before`; whether there was one."""
        if self._turn is None or self._turn.began > before:
            return False
        self._turn.stop()
        return True

    async def run(self) -> None:
        """First finishes the turn that a restart has interrupted, then serves the queue."""
        if self._means.store.read(lambda db: turn_rows.at_work(db, self._seat.id)) is not None:
            await self._run_turn(TurnAtWork(self._means, self._seat))
        book = LogBook(self._means, self._seat)
        while True:
            choice = choose(self._means.queue.look(self._seat.id), self._means.clock.now())
            if choice.turn:
                if await self._within_day():
                    await self._run_turn(TurnAtWork(self._means, self._seat, choice.turn))
            elif choice.without_turn:
                await self._log_without_turn(book, choice.without_turn)
            else:
                await self._wait(choice.look_again)

    async def _run_turn(self, turn: TurnAtWork) -> None:
        self._turn = turn
        try:
            await turn.run()
        finally:
            self._turn = None

    async def _log_without_turn(self, book: LogBook, deliveries: tuple[Delivery, ...]) -> None:
        await book.deliveries(deliveries)
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
        usage = self._means.usage
        if usage.tokens_today(self._seat.id) < self._seat.limits.tokens_per_day:
            return True
        fact, today = f"day_told:{self._seat.id}", usage.today()
        if self._means.store.read(lambda db: agent_rows.fact(db, fact)) != today:
            await self._means.store.write(lambda db: agent_rows.set_fact(db, fact, today))
            await self._means.telling.notice(self._seat, None, sentences.DAY_USED_UP)
        to_tomorrow_s = (usage.tomorrow() - self._means.clock.now()).total_seconds()
        await self._means.clock.sleep(min(max(to_tomorrow_s, 1.0), LOOK_AGAIN_S))
        return False
