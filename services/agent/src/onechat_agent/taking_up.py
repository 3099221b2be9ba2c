"""A turn that a restart has interrupted is brought back to where it was, and goes on from there.

No logged answer is asked for again, what ran is not run again, and what a restart has ended is ended here.
How a turn is read back from its log: resume.py. The steps after that: turn_steps.py.
"""

from onechat_runtime import logs

from onechat_agent import sentences
from onechat_agent.calls import UNKNOWN_RESULT
from onechat_agent.domain.delivery import Delivery
from onechat_agent.domain.keys import delivery_key
from onechat_agent.domain.turn import STARTS_MAX, Turn, TurnState
from onechat_agent.log_book import LogBook
from onechat_agent.means import Means
from onechat_agent.resume import Resumed, items_again, read_back
from onechat_agent.seat import Seat
from onechat_agent.turn_ends import EndedByLimit
from onechat_agent.turn_input import TurnInput
from onechat_agent.turn_steps import Steps
from onechat_agent.turn_store import TurnStore

log = logs.get("onechat.agent")


class TakingUp:
    """Takes up one interrupted turn; it was not stopped."""

    def __init__(
        self, means: Means, seat: Seat, store: TurnStore, book: LogBook, shown: TurnInput, steps: Steps
    ) -> None:
        self._means = means
        self._seat = seat
        self._store = store
        self._book = book
        self._shown = shown
        self._steps = steps

    async def take_up(self, turn: Turn) -> bool:
        """Brings `turn` back to where its next step begins; False when that ended it. Raises EndedByLimit."""
        resumed = await read_back(self._means, self._seat, turn)
        starts = turn.starts + 1 if resumed.length <= turn.start_length else 1
        await self._store.resume(turn, starts=starts, length=resumed.length)
        log.info("turn_resumed", agent=self._seat.name, turn=turn.id, starts=starts)
        if resumed.final_text is not None:
            self._store.unwritten.taint = resumed.tainted
            await self._store.end(turn.id, TurnState.ENDED, reply=resumed.final_text.strip())
            return False
        self._steps.tainted = turn.tainted or resumed.tainted
        self._store.unwritten.taint = self._steps.tainted and not turn.tainted
        if starts > STARTS_MAX:
            for call in resumed.open_calls:
                await self._steps.calls(turn).log_result(call, UNKNOWN_RESULT)
            raise EndedByLimit(sentences.STARTED_TOO_OFTEN)
        self._steps.step = max(resumed.step, turn.steps_before)
        await self._go_on(turn, resumed)
        if self._steps.step:  # between two steps, as after the results of any other
            await self._steps.join(turn)
        return True

    async def _go_on(self, turn: Turn, resumed: Resumed) -> None:
        """The input as it was, then what was left to do of the last step."""
        hidden, shown = self._store.deliveries(turn.id)
        unlogged = [one for one in shown if delivery_key(one.id) not in resumed.delivery_keys]
        await self._show_again(turn, resumed, hidden, unlogged)
        if resumed.open_calls or self._steps.circles.ended:
            # As they were made: one that has run already must not become a proposal to do it once more.
            tainted = turn.tainted or resumed.tainted_before
            results = await self._steps.calls(turn).run(resumed.open_calls, tainted=tainted)
            await self._steps.take_results(turn.id, resumed.open_calls, results)
        await self._book.deliveries(unlogged)
        if not turn.rollovers:
            await self._shown.add_deliveries(unlogged)

    async def _show_again(
        self, turn: Turn, resumed: Resumed, hidden: list[Delivery], unlogged: list[Delivery]
    ) -> None:
        # After a roll-over most of `unlogged` stand in the log before T0; logging them again changes nothing.
        if turn.rollovers:
            await self._shown.open(turn, (), unlogged)
            self._shown.add_rolled_over()
        else:
            await self._shown.open(turn, hidden, ())
        again = await items_again(
            self._means, self._seat, turn, resumed.entries, self._shown.pictures, self._steps.circles
        )
        own_log = self._shown.own_log
        self._shown.items += again if own_log is None else await own_log.with_pointers(turn, again)
