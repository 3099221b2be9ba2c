"""Judges by a small model call whether a group's message is meant for its agent: once, and soon or never.

What is asked: prompts/addressed.py. The call is the agent's own in the usage report and in its limit of a
day, with a purpose of its own. Times are seconds.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from onechat_runtime import logs

from onechat_agent.asking import Model
from onechat_agent.day_limit import DayLimit
from onechat_agent.domain.agent import Role
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.groups import Addressed
from onechat_agent.domain.usage import Purpose
from onechat_agent.errors import AgentUnknown, ModelUnavailable
from onechat_agent.model.failures import ModelFailure
from onechat_agent.model.items import ModelRequest, UserItem
from onechat_agent.prompts import addressed
from onechat_agent.seat import Seat
from onechat_agent.telling import Telling
from onechat_agent.usage_book import UsageBook

JUDGE_S: Final = 20.0  # the message waits meanwhile, and its group with it
OUTPUT_TOKENS: Final = 2_000  # thoughts among them
EFFORT: Final = "low"

log = logs.get("onechat.agent")


class Judging:
    """The detectors' model call."""

    def __init__(
        self,
        *,
        model: Model,
        seats: Mapping[AgentId, Seat],
        usage: UsageBook,
        telling: Telling,
        day: DayLimit,
    ) -> None:
        self._model = model
        self._seats = seats
        self._usage = usage
        self._telling = telling
        self._day = day

    async def judge(
        self, agent: AgentId, text: str, names: Sequence[str], before: Sequence[str]
    ) -> Addressed:
        """What `text` is to the group's agent. An answer that makes no sense: nothing of it.

        Raises AgentUnknown, and ModelUnavailable where no answer can be had now.
        """
        seat = self._seats.get(agent)
        if seat is None or seat.role is not Role.GROUP:
            raise AgentUnknown("There is no group's agent of that id.")
        if self._day.holds_turns(seat):
            raise ModelUnavailable("The agent's limit of today is used up.")
        answer = await self._asked(seat, addressed.question(text, names, before))
        judged = addressed.judgement(answer)
        if judged is None:
            log.warning("judgement_without_sense", agent=seat.name)
        return judged or Addressed()

    async def _asked(self, seat: Seat, question: str) -> str:
        request = ModelRequest(
            system=addressed.SYSTEM,
            tools=(),
            items=(UserItem(text=question),),
            model=seat.compact_model,
            effort=EFFORT,
            cache_key=seat.id,
            max_output_tokens=OUTPUT_TOKENS,
            answer_form=addressed.FORM,
        )
        try:
            async with asyncio.timeout(JUDGE_S):
                answer = await self._model.respond(request, lambda _offset, _text: None)
        except TimeoutError:
            raise ModelUnavailable() from None
        except ModelFailure as failure:
            log.warning("judging_failed", agent=seat.name, code=failure.code)
            await self._usage.record_alone(seat.id, seat.compact_model, Purpose.MENTION, failure.usage)
            if failure.lasting and self._telling.first_time(failure.code, failure):
                await self._telling.notice(seat, None, failure.sentence)
            raise ModelUnavailable() from None
        self._telling.succeeded()
        await self._usage.record_alone(seat.id, seat.compact_model, Purpose.MENTION, answer.usage)
        return answer.text
