"""The steps of one turn: the model is asked, its calls run, their results and what came meanwhile go to it.

It ends with an answer without calls, or at a limit (turn_ends.py). Which calls are made at once, and what of
them is logged: calls.py. What a call to the model holds: turn_input.py.
"""

from collections.abc import Sequence

from onechat_runtime import logs

from onechat_agent import sentences
from onechat_agent.calls import Call, Calls
from onechat_agent.domain.delivery import TurnId
from onechat_agent.domain.limits import Circles, Repeat
from onechat_agent.domain.text import clean
from onechat_agent.domain.turn import Turn, TurnState
from onechat_agent.log_book import LogBook
from onechat_agent.means import Means
from onechat_agent.seat import Seat
from onechat_agent.tools.tool import ToolResult
from onechat_agent.turn_ends import EndedByLimit
from onechat_agent.turn_input import TurnInput
from onechat_agent.turn_store import TurnStore

log = logs.get("onechat.agent")


class Steps:
    """One turn's steps, and how far it is."""

    def __init__(
        self, means: Means, seat: Seat, store: TurnStore, book: LogBook, shown: TurnInput, *, began_s: float
    ) -> None:
        """`began_s`: when the turn was picked up, by the monotonic clock."""
        self._means = means
        self._seat = seat
        self._store = store
        self._book = book
        self._shown = shown
        self._began_s = began_s
        self.circles = Circles()
        self.step = 0  #: the last that is done; 0 before the first
        self.tainted = False
        self.doing = "waiting for its view"  #: for people

    async def run(self, turn: Turn) -> None:
        """Step after step until the turn has ended. Raises EndedByLimit and ModelFailure."""
        calls = self.calls(turn)
        while True:
            await self._want_within_limits()
            turn = await self._shown.fitted(turn, self.step)
            self.doing = "thinking"
            answer = await self._means.asking.answer(self._seat, turn.id, self.step + 1, self._shown.items)
            self.step += 1
            self._store.unwritten.used.append((self._seat.model, answer.usage))
            text = clean(answer.text)
            step_calls = await self._book.answer(turn.id, self.step, answer, text)
            if not step_calls:
                await self._store.end(turn.id, TurnState.ENDED, reply=text.strip())
                log.info("turn_ended", agent=self._seat.name, turn=turn.id, steps=self.step)
                return
            self._shown.items += answer.items
            await self._run_calls(turn, calls, step_calls)
            await self.join(turn)

    async def _run_calls(self, turn: Turn, calls: Calls, step_calls: Sequence[Call]) -> None:
        self._store.unwritten.bodies += [calls.begun(call) for call in step_calls]
        await self._store.step(turn.id)
        self.doing = "at work: " + ", ".join(call.name for call in step_calls)
        results = await calls.run(step_calls, tainted=self.tainted)
        self._store.unwritten.bodies += [
            calls.ended(call, result) for call, result in zip(step_calls, results, strict=True)
        ]
        await self.take_results(turn.id, step_calls, results)

    async def take_results(self, turn: TurnId, calls: Sequence[Call], results: Sequence[ToolResult]) -> None:
        """Adds a step's results to what the model sees next. Raises EndedByLimit when it goes in circles."""
        for call, result in zip(calls, results, strict=True):
            repeat = self.circles.after(call.name, call.arguments, result.text, malformed=result.malformed)
            await self._shown.add_result(turn, call, result, repeated=repeat is Repeat.TELL)
            if result.taints and not self.tainted:
                self.tainted = self._store.unwritten.taint = True
        if self.circles.ended:
            raise EndedByLimit(sentences.IN_CIRCLES)

    async def join(self, turn: Turn) -> None:
        """What came meanwhile, and may, enters the turn between a step's results and the next call."""
        if self._seat.group:  # each message there has a turn of its own, whose reply goes to it
            return
        came = self._means.queue.that_may_join(self._seat.id, turn_backed=turn.backed)
        if not came:
            return
        if any(delivery.tainted for delivery in came):
            self.tainted = self._store.unwritten.taint = True
        await self._store.join(turn.id, came)
        await self._book.deliveries(came)
        await self._shown.add_deliveries(came)

    def calls(self, turn: Turn) -> Calls:
        """Those of the turn."""
        return Calls(self._means, self._seat, turn.id, backed=turn.backed)

    async def _want_within_limits(self) -> None:
        limits = self._seat.limits
        if self.step >= limits.calls:
            raise EndedByLimit(sentences.CALLS_USED_UP.format(calls=limits.calls))
        if self._means.clock.monotonic() - self._began_s >= limits.minutes * 60:
            raise EndedByLimit(sentences.MINUTES_USED_UP.format(minutes=limits.minutes))
        if self._means.day.holds_turns(self._seat):
            raise EndedByLimit(await self._means.day.ending(self._seat))
