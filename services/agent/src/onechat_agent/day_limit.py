"""The limit on an agent's tokens of a day: what it holds back, and that its user is told of it once a day.

Turns stop at the limit and lines at twice of it: lines that are not built hold the next day's first turn. It
holds back one agent and never another. What was used: usage_book.py. The limits: domain/limits.py.
"""

from typing import Final

from onechat_runtime.clock import Clock
from onechat_runtime.store import Store

from onechat_agent import sentences
from onechat_agent.adapters import agent_rows
from onechat_agent.patience import committed
from onechat_agent.seat import Seat
from onechat_agent.telling import Telling
from onechat_agent.usage_book import UsageBook

LINES_FACTOR: Final = 2


class DayLimit:
    """What today's use still leaves to each agent."""

    def __init__(self, store: Store, clock: Clock, usage: UsageBook, telling: Telling) -> None:
        self._store = store
        self._clock = clock
        self._usage = usage
        self._telling = telling

    def holds_turns(self, seat: Seat) -> bool:
        """Whether today's tokens are used up."""
        return self._usage.tokens_today(seat.id) >= seat.limits.tokens_per_day

    def holds_lines(self, seat: Seat) -> bool:
        """Whether the lines of its memory wait for tomorrow too."""
        return self._usage.tokens_today(seat.id) >= LINES_FACTOR * seat.limits.tokens_per_day

    async def tell(self, seat: Seat) -> None:
        """Tells that the agent goes on tomorrow; once a day, also over a restart. A group is told, too."""
        if await self._told(seat):
            await self._telling.notice(seat, None, sentences.DAY_USED_UP)
            if seat.group:
                await self._telling.notice(seat, None, sentences.GROUP_DAY_USED_UP, audience=seat.audience)

    async def ending(self, seat: Seat) -> str:
        """The sentence that a turn ends with; to a group it says less, and the user is told beside."""
        is_first = await self._told(seat)
        if not seat.group:
            return sentences.DAY_USED_UP
        if is_first:
            await self._telling.notice(seat, None, sentences.DAY_USED_UP)
        return sentences.GROUP_DAY_USED_UP

    async def _told(self, seat: Seat) -> bool:
        """The user is told now, by a turn's end or a notice; False where that was today already."""
        fact, today = f"day_told:{seat.id}", self._usage.today()
        if self._store.read(lambda db: agent_rows.fact(db, fact)) == today:
            return False
        await committed(self._store, self._clock, lambda db: agent_rows.set_fact(db, fact, today))
        return True
