"""A subagent's own log in its turns: whole, as text, its oldest results as pointers once it has grown long.

It has no tree, so nothing of it becomes a line: each call holds all of it, what came before the turn as one
text. Past the limit the oldest results are left out, down to half of it at once, and stay left out, so that
the calls after it begin with the same bytes, also after a restart. Words: prompts/subagent.py. Sizes are
UTF-8 bytes.
"""

from collections.abc import Sequence
from dataclasses import replace

import apsw

from onechat_agent.adapters import agent_rows, delivery_rows, turn_rows
from onechat_agent.domain.chat import Kind, Message
from onechat_agent.domain.turn import Turn
from onechat_agent.means import Means
from onechat_agent.model.items import CallItem, Item, OutputItem, ReplyItem, UserItem
from onechat_agent.model.sizes import size_of
from onechat_agent.patience import committed
from onechat_agent.prompts.subagent import left_out, log_text
from onechat_agent.seat import Seat


class OwnLog:
    """The log of the subagent in `seat`, for one turn of its."""

    def __init__(self, means: Means, seat: Seat) -> None:
        self._means = means
        self._seat = seat

    async def begun(self, turn: Turn) -> Turn:
        """`turn` as it begins here: T0 counts in this log, and what the log holds from outside taints it.

        All of the log is in each call, so what entered an earlier turn enters this one.
        """
        length, _ = await self._means.patience.get("length", lambda: self._means.memory.length(self._seat.id))

        def heard(db: apsw.Connection) -> bool:
            agent = self._seat.id
            return turn_rows.heard_outside(db, agent) or delivery_rows.heard_outside(db, agent)

        tainted = turn.tainted or self._means.store.read(heard)
        return replace(turn, log_start=length, start_length=length, tainted=tainted)

    async def before(self, turn: Turn) -> UserItem:
        """The log before the turn's T0."""
        first = self._first_whole()
        messages = await self._read(0, turn.log_start)
        return UserItem(text=log_text((message, self._shown(message, first)) for message in messages))

    async def with_pointers(self, turn: Turn, items: Sequence[Item]) -> list[Item]:
        """The turn's `items` as they were before a restart: results that had been left out still are."""
        first = self._first_whole()
        if first <= turn.log_start:
            return list(items)
        messages = {message.key: message for message in await self._read(turn.log_start)}
        return [self._item(item, messages.get(_key(item)), first) for item in items]

    async def shortened(self, turn: Turn, items: Sequence[Item]) -> list[Item]:
        """`items` (view, state, the log before T0, then the turn's) with the oldest results left out.

        Those that the model has not seen yet stay. The same items come back where nothing can be left out.
        """
        messages = await self._read(0)
        unseen = {_key(item) for item in items[_after_last_answer(items) :]}
        shown = {_key(item): item for item in items if isinstance(item, OutputItem)}
        too_much = size_of(items[2:]) - self._seat.limits.context_bytes // 2
        first = self._first_whole()
        for message in messages:
            if too_much <= 0:
                break
            if message.kind is not Kind.ECHO or message.id < first or message.key in unseen:
                continue
            whole: Item = UserItem(text=message.text)
            too_much -= size_of([shown.get(message.key, whole)]) - size_of([self._pointer(message)])
            first = message.id + 1
        await committed(
            self._means.store,
            self._means.clock,
            lambda db: agent_rows.show_results_from(db, self._seat.id, first),
        )
        rest = await self.with_pointers(turn, items[3:])
        return [*items[:2], await self.before(turn), *rest]

    def fits(self, items: Sequence[Item]) -> bool:
        """Whether `items` keep the limit, apart from results that the model has not seen yet."""
        seen = items[2 : _after_last_answer(items)]
        return size_of(seen) <= self._seat.limits.context_bytes

    def _first_whole(self) -> int:
        return self._means.store.read(lambda db: agent_rows.results_from(db, self._seat.id))

    async def _read(self, start: int, end: int | None = None) -> list[Message]:
        async def read() -> list[Message]:
            return [message async for message in self._means.memory.messages(self._seat.id, start, end)]

        return await self._means.patience.get("turn", read)

    def _shown(self, message: Message, first: int) -> str:
        left = message.kind is Kind.ECHO and message.id < first
        return left_out(message, self._seat.name) if left else message.text

    def _item(self, item: Item, message: Message | None, first: int) -> Item:
        if not isinstance(item, OutputItem) or message is None or message.id >= first:
            return item
        return replace(item, text=left_out(message, self._seat.name), pictures=())

    def _pointer(self, message: Message) -> UserItem:
        return UserItem(text=left_out(message, self._seat.name))


def _key(item: Item) -> str:
    """The key in the log of the result that `item` shows; "" for what is none."""
    return item.key if isinstance(item, OutputItem) else ""


def _after_last_answer(items: Sequence[Item]) -> int:
    """Where results begin that the model has not seen: behind its last answer; without one at the end."""
    answers = [at for at, item in enumerate(items) if isinstance(item, CallItem | ReplyItem)]
    return answers[-1] + 1 if answers else len(items)
