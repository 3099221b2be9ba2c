"""What the calls of one turn hold: view, state, its messages with their pictures, and its steps so far.

After the view a call holds so many bytes at most (domain/limits.py). Past that, between two steps, the turn
goes on from a new view, which holds the steps; a subagent, which has no tree, leaves its oldest results out.
Reading a turn back: resume.py. Sizes are UTF-8 bytes.
"""

from collections.abc import Mapping, Sequence

from onechat_runtime import logs

from onechat_agent import sentences
from onechat_agent.calls import Call
from onechat_agent.domain.delivery import Delivery, TurnId
from onechat_agent.domain.keys import delivery_key, result_key
from onechat_agent.domain.taking import whole_ones
from onechat_agent.domain.turn import Turn
from onechat_agent.log_book import logged_words
from onechat_agent.means import Means
from onechat_agent.model.items import Item, OutputItem, UserItem
from onechat_agent.model.sizes import size_of
from onechat_agent.own_log import OwnLog
from onechat_agent.pictures import TurnPictures, Worded
from onechat_agent.prompts import remarks, rendering
from onechat_agent.resume import message_places
from onechat_agent.seat import Seat
from onechat_agent.tools.tool import ToolResult
from onechat_agent.turn_ends import EndedByLimit
from onechat_agent.turn_store import TurnStore

log = logs.get("onechat.agent")


class TurnInput:
    """The items of one turn's next call."""

    def __init__(self, means: Means, seat: Seat, store: TurnStore) -> None:
        self._means = means
        self._seat = seat
        self._store = store
        self.own_log = OwnLog(means, seat) if seat.owner is not None else None  #: a subagent's
        log_name = seat.name if seat.owner is not None else ""
        self.pictures = TurnPictures(means.pictures, self._message_places, log_name)
        self.items: list[Item] = []

    async def open(self, turn: Turn, hidden: Sequence[Delivery], shown: Sequence[Delivery]) -> None:
        """What calls begin with: view, state, a subagent's own log, the deliveries with their pictures."""
        self.items = [UserItem(text=turn.view), UserItem(text=turn.state_block)]
        if self.own_log is not None:
            self.items.append(await self.own_log.before(turn))
        elif hidden:
            self.items.append(UserItem(text=remarks.early(hidden)))
        await self.add_deliveries(shown)

    async def add_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        """Messages that come now, with what of their pictures is new."""
        self.items += await self.pictures.messages(
            [
                Worded(
                    key=delivery_key(one.id),
                    text=rendering.message_text(one.kind, logged_words(one, self._seat.group)),
                    images=one.images,
                )
                for one in deliveries
            ]
        )

    async def add_result(self, turn: TurnId, call: Call, result: ToolResult, *, repeated: bool) -> None:
        """What a call gave; `repeated`: the model is told that it has given just that before."""
        pictures, lines = await self.pictures.of_result(result.images)
        lines += [rendering.REPEATED] if repeated else []
        text = "\n".join([result.text, *lines])
        key = result_key(turn, call.step, call.number)
        self.items.append(OutputItem(call_id=call.call_id, text=text, pictures=pictures, key=key))

    def add_rolled_over(self) -> None:
        """The remark that the steps so far stand in the view."""
        self.items.append(UserItem(text=rendering.ROLLED_OVER))

    async def fitted(self, turn: Turn, step: int) -> Turn:
        """`turn` with an input that the next call can hold, after `step`. Raises EndedByLimit."""
        if size_of(self.items[2:]) <= self._seat.limits.context_bytes:
            return turn
        if self.own_log is None:
            return await self._roll_over(turn, step)
        self.items = await self.own_log.shortened(turn, self.items)
        if not self.own_log.fits(self.items):
            raise EndedByLimit(sentences.CHAT_TOO_LONG)
        return turn

    async def _roll_over(self, turn: Turn, step: int) -> Turn:
        """Goes on from a new view, which holds the steps so far."""
        view = await self._means.views.whole(self._seat)
        _, shown = self._store.deliveries(turn.id)
        older, kept = whole_ones(shown, self._seat.limits.deliveries_bytes)
        state_block = self._seat.state(self._means.clock.now())
        await self._store.roll_over(turn.id, view, state_block=state_block, step=step, hidden=older)
        rolled = self._store.at_work()
        assert rolled is not None
        self.pictures.rolled_over()
        await self.open(rolled, (), kept)
        self.add_rolled_over()
        log.info("turn_rolled_over", agent=self._seat.name, turn=turn.id, steps=step)
        return rolled

    async def _message_places(self) -> Mapping[str, int]:
        turn = self._store.at_work()
        return {} if turn is None else await message_places(self._means, self._seat, turn)
