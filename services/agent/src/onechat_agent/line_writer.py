"""One line of the memory, asked of the model: the calls, their records, and what a failure of theirs means.

The task's words and the choice of a line: prompts/compaction.py. Which lines: compactor.py.
"""

import json
from collections.abc import Callable, Sequence

from onechat_agent import sentences
from onechat_agent.adapters.memory import Asked
from onechat_agent.asking import Model
from onechat_agent.domain.prefixes import Prefix
from onechat_agent.domain.usage import Purpose
from onechat_agent.model.failures import BadRequest, ModelFailure
from onechat_agent.model.items import Item, ModelAnswer, ReplyItem, TokenUsage, ToolChoice, UserItem
from onechat_agent.prompts import compaction, rendering
from onechat_agent.seat import Seat
from onechat_agent.telling import Telling
from onechat_agent.usage_book import UsageBook


class LineWriter:
    """Asks for lines."""

    def __init__(self, model: Model, usage: UsageBook, telling: Telling) -> None:
        self._model = model
        self._usage = usage
        self._telling = telling

    async def line(
        self,
        seat: Seat,
        seen: Sequence[str],
        task: compaction.Task,
        asked: Asked,
        on_start: Callable[[], None],
    ) -> str | None:
        """The node's line, written by who sees the view lines `seen`; None when no answer held any.

        A line that is too long stands where the model gives no shorter one. `asked` is kept in step with
        each answer, also where it ends in a ModelFailure. `on_start` is called when an answer begins.
        """
        items: list[Item] = [
            UserItem(text=rendering.view_text(seen)),
            UserItem(text=compaction.task_text(task)),
        ]
        shortest: str | None = None
        for _ in range(compaction.TRIES):
            try:
                answer = await self._answer(seat, items, asked, on_start)
            except ModelFailure as failure:
                if shortest is None or not of_content(failure):
                    raise
                return shortest
            choice = compaction.choose(answer.text)
            if choice is None:
                return shortest
            if choice.fits:
                return choice.line
            asked.over_length += 1
            if shortest is None or len(choice.line.encode()) < len(shortest.encode()):
                shortest = choice.line
            items += [ReplyItem(text=answer.text), UserItem(text=compaction.too_long_text(choice.line))]
        return shortest

    async def _answer(
        self, seat: Seat, items: Sequence[Item], asked: Asked, on_start: Callable[[], None]
    ) -> ModelAnswer:
        request = seat.request(items, model=seat.compact_model, choice=ToolChoice.NONE)
        try:
            answer = await self._model.respond(request, lambda *_: None, on_start)
        except ModelFailure as failure:
            # A refusal is an answer and costs as one; a server that was away or busy has answered nothing.
            asked.calls += of_content(failure) or failure.usage != TokenUsage()
            await self._record(seat, failure.usage)
            raise
        asked.calls += 1
        self._telling.succeeded()
        await self._record(seat, answer.usage)
        return answer

    async def _record(self, seat: Seat, tokens: TokenUsage) -> None:
        await self._usage.record_alone(seat.id, seat.compact_model, Purpose.COMPACTION, tokens)


def prefixes(seat: Seat, view_lines: Sequence[str], seen: Sequence[int]) -> list[Prefix]:
    """What calls begin with that see so many of `view_lines` each."""
    request = seat.request((), model=seat.compact_model)
    head = json.dumps(request.tools, ensure_ascii=False) + request.system
    cache = (request.cache_key, request.model)
    return [Prefix.of(cache, (head, *view_lines[:count])) for count in seen]


def of_content(failure: ModelFailure) -> bool:
    """Whether `failure` lies in the text that was sent; what would meet every text must degrade no line."""
    if failure.retriable or failure.lasting:
        return False
    if isinstance(failure, BadRequest):
        return failure.switch is None and failure.sentence != sentences.MODEL_NO_RESPONSES
    return True
