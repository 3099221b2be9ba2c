"""What an agent writes into its log: deliveries, answers with their calls, and onechat's own words.

Keys: domain/keys.py. Results of calls: calls.py. Every append is made again until it is answered.
"""

from collections.abc import Sequence

from onechat_runtime import logs
from onechat_runtime.errors import RemoteError

from onechat_agent.calls import Call
from onechat_agent.domain import outside
from onechat_agent.domain.chat import Kind, NewMessage
from onechat_agent.domain.delivery import Delivery, TurnId
from onechat_agent.domain.groups import is_private
from onechat_agent.domain.images import with_marks
from onechat_agent.domain.keys import call_key, delivery_key, end_key, text_key
from onechat_agent.domain.text import clean
from onechat_agent.domain.turn_log import call_text
from onechat_agent.means import Means
from onechat_agent.model.items import ModelAnswer
from onechat_agent.prompts import remarks
from onechat_agent.seat import Seat

log = logs.get("onechat.agent")

_OUTSIDE = ("whatsapp:", "telegram:")  #: sources whose text is others'


def logged_words(delivery: Delivery, group: str = "") -> str:
    """A delivery's text as log and model get it: what others wrote is marked on every line, ours is not.

    `group`: of whose agent it is, the group's source.
    """
    text = clean(delivery.text)
    others = delivery.kind is Kind.WORK and delivery.source.startswith(_OUTSIDE)
    if others:
        private = bool(group) and is_private(group, delivery.source)
        text = outside.marked(text, source=delivery.source, private=private)
    text = with_marks(text, delivery.images)  # the lines of pictures are onechat's own: they have no mark
    if others and delivery.wakes and not group:  # in a group it is meant for the agent
        text = f"{text}\n{remarks.MAY_BE_EMPTY}"
    return f"{remarks.instead_of(delivery.meant_for)}\n{text}" if delivery.meant_for else text


class LogBook:
    """One agent's log, for writing."""

    def __init__(self, means: Means, seat: Seat) -> None:
        self._means = means
        self._seat = seat

    async def deliveries(self, deliveries: Sequence[Delivery]) -> None:
        """Logs deliveries in order; those that are logged already stay as they are."""
        await self._append(
            [
                NewMessage(
                    key=delivery_key(delivery.id),
                    kind=delivery.kind,
                    text=logged_words(delivery, self._seat.group),
                    time=delivery.time,
                    source=delivery.source,
                    images=delivery.images,
                )
                for delivery in deliveries
            ]
        )

    async def those_it_takes(self, deliveries: Sequence[Delivery]) -> int:
        """Logs deliveries one by one and leaves out what the memory refuses for good; how many those are."""
        refused = 0
        for delivery in deliveries:
            try:
                await self.deliveries([delivery])
            except RemoteError as error:
                refused += 1
                log.error("delivery_refused_by_memory", delivery=delivery.id, reason=error.reason)
        return refused

    async def answer(self, turn: TurnId, step: int, answer: ModelAnswer, text: str) -> list[Call]:
        """One append: the answer's text and all its calls, before any of them runs."""
        calls = [
            Call(step=step, number=number, call_id=item.call_id, name=item.name, arguments=item.arguments)
            for number, item in enumerate(answer.calls, start=1)
        ]
        messages = []
        if text.strip():
            messages.append(self._own(text_key(turn, step), Kind.REPLY, text, turn, step))
        for call in calls:
            said = clean(call_text(call.name, call.arguments))
            key = call_key(turn, step, call.number)
            messages.append(self._own(key, Kind.TOOL, said, turn, step, call=str(call.number)))
        await self._append(messages)
        return calls

    async def ending(self, turn: TurnId, sentence: str) -> None:
        """The words with which onechat itself ends a turn."""
        await self._append([self._own(end_key(turn), Kind.REPLY, sentence, turn, 0)])

    def _own(self, key: str, kind: Kind, text: str, turn: TurnId, step: int, call: str = "") -> NewMessage:
        now = self._means.clock.now()
        return NewMessage(key=key, kind=kind, text=text, time=now, turn=turn, step=step, call=call)

    async def _append(self, messages: Sequence[NewMessage]) -> None:
        if messages:
            await self._means.patience.get(
                "log",
                lambda: self._means.memory.append(self._seat.id, messages),
                away=lambda: self._means.telling.memory_away(self._seat),
            )
            self._means.telling.memory_answered()
