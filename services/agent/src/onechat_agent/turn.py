"""One turn of an agent, from its deliveries to its end; also one that a restart has interrupted.

The order of what is committed where is the table in docs/design/turns.md: memory before the agent wherever
both do. Transactions: turn_store.py. Calls: calls.py. Reading a turn back: resume.py. Sizes are UTF-8 bytes.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from onechat_runtime import logs

from onechat_agent import sentences
from onechat_agent.calls import UNKNOWN_RESULT, Call, Calls
from onechat_agent.domain.delivery import Delivery, TurnId
from onechat_agent.domain.keys import delivery_key, result_key
from onechat_agent.domain.limits import Circles, Repeat
from onechat_agent.domain.taking import whole_ones
from onechat_agent.domain.text import clean
from onechat_agent.domain.turn import STARTS_MAX, Turn, TurnState
from onechat_agent.log_book import LogBook, logged_words
from onechat_agent.means import Means
from onechat_agent.model.failures import ModelFailure
from onechat_agent.model.items import Item, OutputItem, UserItem
from onechat_agent.model.sizes import size_of
from onechat_agent.own_log import OwnLog
from onechat_agent.pictures import TurnPictures, Worded
from onechat_agent.prompts import remarks, rendering
from onechat_agent.resume import items_again, message_places, read_back
from onechat_agent.seat import Seat
from onechat_agent.tools.tool import ToolResult
from onechat_agent.turn_ends import EndedByLimit, Ends, fresh_turn
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
        self._own_log = OwnLog(means, seat) if seat.owner is not None else None
        log_name = seat.name if seat.owner is not None else ""
        self._pictures = TurnPictures(means.pictures, self._message_places, log_name)
        self._items: list[Item] = []
        self._step = 0
        self._tainted = False
        self._circles = Circles()
        self._stop_reason: str | None = None
        self._task: asyncio.Task[None] | None = None
        self._began_s = means.clock.monotonic()
        self._age_before_s = 0.0  # of a turn that a restart has interrupted
        self.id: TurnId | None = None  #: None before it has its view
        self.doing = "waiting for its view"  #: for people

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
                turn, early, whole = await self._begin()
                await self._book.deliveries(self._new)
                self._items = await self._opening(turn, early, whole)
            else:
                self.id = turn.id
                age = self._means.clock.now() - turn.begin_time
                self._age_before_s = max(age.total_seconds(), 0.0)
                if not await self._take_up(turn):
                    return
                if self._step:  # between two steps, as after the results of any other
                    await self._join(turn)
            await self._steps(turn)
        except EndedByLimit as limit:
            await self._ends.by_limit(str(limit))
        except ModelFailure as failure:
            log.warning("turn_failed", agent=self._seat.name, code=failure.code)
            await self._ends.by_failure(failure)

    async def _begin(self) -> tuple[Turn, Sequence[Delivery], Sequence[Delivery]]:
        """(the turn, its deliveries that only the view shows, and those that are shown whole)."""
        early, whole = whole_ones(self._new, self._seat.limits.deliveries_bytes)
        await self._book.deliveries(early)
        view = await self._means.views.whole(self._seat)
        turn = fresh_turn(self._seat, self._means.clock.now(), self._new, view)
        if self._own_log is not None:
            turn = await self._own_log.begun(turn)
        self.id = turn.id
        await self._store.begin(turn, early, whole)
        log.info("turn_begun", agent=self._seat.name, turn=turn.id, deliveries=len(self._new))
        self._tainted = turn.tainted
        return turn, early, whole

    async def _opening(self, turn: Turn, hidden: Sequence[Delivery], shown: Sequence[Delivery]) -> list[Item]:
        """What calls begin with: view, state, a subagent's own log, the deliveries with their pictures."""
        items: list[Item] = [UserItem(text=turn.view), UserItem(text=turn.state_block)]
        if self._own_log is not None:
            items.append(await self._own_log.before(turn))
        elif hidden:
            items.append(UserItem(text=remarks.early(hidden)))
        items += await self._pictures.messages(_worded(shown, self._seat.group))
        return items

    async def _message_places(self) -> Mapping[str, int]:
        turn = self._store.at_work()
        return {} if turn is None else await message_places(self._means, self._seat, turn)

    async def _take_up(self, turn: Turn) -> bool:
        """Brings an interrupted turn back to where it was; False when that ended it."""
        if turn.stop_reason is not None:
            await self._ends.by_stop(turn.stop_reason)
            return False
        resumed = await read_back(self._means, self._seat, turn)
        starts = turn.starts + 1 if resumed.length <= turn.start_length else 1
        await self._store.resume(turn, starts=starts, length=resumed.length)
        log.info("turn_resumed", agent=self._seat.name, turn=turn.id, starts=starts)
        if resumed.final_text is not None:
            self._store.unwritten.taint = resumed.tainted
            await self._store.end(turn.id, TurnState.ENDED, reply=resumed.final_text.strip())
            return False
        self._tainted = turn.tainted or resumed.tainted
        self._store.unwritten.taint = self._tainted and not turn.tainted
        if starts > STARTS_MAX:
            for call in resumed.open_calls:
                await self._calls(turn).log_result(call, UNKNOWN_RESULT)
            raise EndedByLimit(sentences.STARTED_TOO_OFTEN)
        self._step = max(resumed.step, turn.steps_before)
        hidden, shown = self._store.deliveries(turn.id)
        unlogged = [d for d in shown if delivery_key(d.id) not in resumed.delivery_keys]
        # After a roll-over most of these stand in the log before T0; logging them again changes nothing.
        self._items = await self._opening(
            turn, () if turn.rollovers else hidden, unlogged if turn.rollovers else ()
        )
        if turn.rollovers:
            self._items.append(UserItem(text=rendering.ROLLED_OVER))
        again = await items_again(
            self._means, self._seat, turn, resumed.entries, self._pictures, self._circles
        )
        self._items += again if self._own_log is None else await self._own_log.with_pointers(turn, again)
        if resumed.open_calls or self._circles.ended:
            # As they were made: one that has run already must not become a proposal to do it once more.
            tainted = turn.tainted or resumed.tainted_before
            results = await self._calls(turn).run(resumed.open_calls, tainted=tainted)
            await self._take_results(turn.id, resumed.open_calls, results)
        await self._book.deliveries(unlogged)
        if not turn.rollovers:
            self._items += await self._pictures.messages(_worded(unlogged, self._seat.group))
        return True

    # ------------------------------------------------------------ steps

    async def _steps(self, turn: Turn) -> None:
        calls = self._calls(turn)
        while True:
            await self._want_within_limits()
            if size_of(self._items[2:]) > self._seat.limits.context_bytes:
                turn = await self._make_room(turn)
            self.doing = "thinking"
            answer = await self._means.asking.answer(self._seat, turn.id, self._step + 1, self._items)
            self._step += 1
            self._store.unwritten.used.append((self._seat.model, answer.usage))
            text = clean(answer.text)
            step_calls = await self._book.answer(turn.id, self._step, answer, text)
            if not step_calls:
                await self._store.end(turn.id, TurnState.ENDED, reply=text.strip())
                log.info("turn_ended", agent=self._seat.name, turn=turn.id, steps=self._step)
                return
            self._items += answer.items
            self._store.unwritten.bodies += [calls.begun(call) for call in step_calls]
            await self._store.step(turn.id)
            self.doing = "at work: " + ", ".join(call.name for call in step_calls)
            results = await calls.run(step_calls, tainted=self._tainted)
            self._store.unwritten.bodies += [
                calls.ended(call, result) for call, result in zip(step_calls, results, strict=True)
            ]
            await self._take_results(turn.id, step_calls, results)
            await self._join(turn)

    async def _take_results(self, turn: TurnId, calls: Sequence[Call], results: Sequence[ToolResult]) -> None:
        """Adds a step's results to what the model sees next. Raises EndedByLimit when it goes in circles."""
        for call, result in zip(calls, results, strict=True):
            repeat = self._circles.after(call.name, call.arguments, result.text, malformed=result.malformed)
            pictures, lines = await self._pictures.of_result(result.images)
            lines += [rendering.REPEATED] if repeat is Repeat.TELL else []
            text = "\n".join([result.text, *lines])
            key = result_key(turn, call.step, call.number)
            self._items.append(OutputItem(call_id=call.call_id, text=text, pictures=pictures, key=key))
            if result.taints and not self._tainted:
                self._tainted = self._store.unwritten.taint = True
        if self._circles.ended:
            raise EndedByLimit(sentences.IN_CIRCLES)

    async def _join(self, turn: Turn) -> None:
        """What came meanwhile, and may, enters the turn between a step's results and the next call."""
        if self._seat.group:  # each message there has a turn of its own, whose reply goes to it
            return
        came = self._means.queue.that_may_join(self._seat.id, turn_backed=turn.backed)
        if not came:
            return
        if any(delivery.tainted for delivery in came):
            self._tainted = self._store.unwritten.taint = True
        await self._store.join(turn.id, came)
        await self._book.deliveries(came)
        self._items += await self._pictures.messages(_worded(came, self._seat.group))

    def _calls(self, turn: Turn) -> Calls:
        return Calls(self._means, self._seat, turn.id, backed=turn.backed)

    async def _want_within_limits(self) -> None:
        limits = self._seat.limits
        if self._step >= limits.calls:
            raise EndedByLimit(sentences.CALLS_USED_UP.format(calls=limits.calls))
        if self._means.clock.monotonic() - self._began_s >= limits.minutes * 60:
            raise EndedByLimit(sentences.MINUTES_USED_UP.format(minutes=limits.minutes))
        if self._means.day.holds_turns(self._seat):
            raise EndedByLimit(await self._means.day.ending(self._seat))

    async def _make_room(self, turn: Turn) -> Turn:
        """The next call would hold too much: a new view holds the steps, or oldest results are left out."""
        if self._own_log is None:
            return await self._roll_over(turn)
        self._items = await self._own_log.shortened(turn, self._items)
        if not self._own_log.fits(self._items):
            raise EndedByLimit(sentences.CHAT_TOO_LONG)
        return turn

    async def _roll_over(self, turn: Turn) -> Turn:
        """Goes on from a new view, which holds the steps so far."""
        view = await self._means.views.whole(self._seat)
        _, shown = self._store.deliveries(turn.id)
        older, kept = whole_ones(shown, self._seat.limits.deliveries_bytes)
        state_block = self._seat.state(self._means.clock.now())
        await self._store.roll_over(
            turn.id,
            view,
            state_block=state_block,
            step=self._step,
            hidden=older,
        )
        rolled = self._store.at_work()
        assert rolled is not None
        self._pictures.rolled_over()
        self._items = [*await self._opening(rolled, (), kept), UserItem(text=rendering.ROLLED_OVER)]
        log.info("turn_rolled_over", agent=self._seat.name, turn=turn.id, steps=self._step)
        return rolled


def _worded(deliveries: Sequence[Delivery], group: str) -> list[Worded]:
    return [
        Worded(
            key=delivery_key(d.id),
            text=rendering.message_text(d.kind, logged_words(d, group)),
            images=d.images,
        )
        for d in deliveries
    ]
