"""One question to the model, asked until it is answered or cannot be.

Streams the text to clients as it comes. One attempt: model/call.py. Pauses: model/retry.py. Seconds.
"""

import random
from collections.abc import Callable, Sequence
from typing import Protocol

from onechat_runtime import logs
from onechat_runtime.clock import Clock

from onechat_agent.domain.delivery import TurnId
from onechat_agent.events import Events
from onechat_agent.model.failures import Unreachable
from onechat_agent.model.items import Item, ModelAnswer, ModelRequest
from onechat_agent.model.retry import delay_s
from onechat_agent.seat import Seat
from onechat_agent.telling import UNREACHABLE_AFTER_S, Telling
from onechat_agent.usage_book import UsageBook

log = logs.get("onechat.agent")


class Model(Protocol):
    """A model endpoint."""

    async def respond(
        self,
        request: ModelRequest,
        on_text: Callable[[int, str], None],
        on_start: Callable[[], None] = lambda: None,
    ) -> ModelAnswer:
        """One attempt; `on_text(offset, text)` gets the text as it comes. Raises ModelFailure.

        `on_start` is called once the model has read the request and begins to answer.
        """
        ...


class Asking:
    """Asks for the steps of turns."""

    def __init__(
        self,
        model: Model,
        events: Events,
        usage: UsageBook,
        clock: Clock,
        rng: random.Random,
        telling: Telling,
    ) -> None:
        self._model = model
        self._events = events
        self._usage = usage
        self._clock = clock
        self._rng = rng
        self._telling = telling

    async def answer(self, seat: Seat, turn: TurnId, step: int, items: Sequence[Item]) -> ModelAnswer:
        """The model's answer to `items`, however long the endpoint is away.

        Raises ModelFailure for what no waiting changes. Each attempt reads the instructions anew.
        """

        def on_text(offset: int, text: str) -> None:
            self._events.text(seat.id, turn, step, offset, text, seat.audience)

        began = self._clock.monotonic()
        attempt = 0
        while True:
            attempt += 1
            try:
                answer = await self._model.respond(seat.request(items), on_text)
            except Unreachable as failure:
                self._events.void_text(seat.id, turn, step, seat.audience)
                await self._usage.record_alone(seat.id, seat.model, seat.purpose, failure.usage)
                pause_s = delay_s(attempt, retry_after_s=failure.retry_after_s, rng=self._rng)
                log.warning("model_unreachable", turn=turn, code=failure.code, pause_s=round(pause_s, 1))
                if self._clock.monotonic() - began + pause_s >= UNREACHABLE_AFTER_S:
                    await self._telling.unreachable(seat, turn, failure)
                await self._clock.sleep(pause_s)
            except BaseException:
                self._events.void_text(seat.id, turn, step, seat.audience)
                raise
            else:
                self._events.finish_text(seat.id)
                self._telling.succeeded()
                return answer
