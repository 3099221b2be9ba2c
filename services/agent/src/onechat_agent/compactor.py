"""Builds the lines of the memory: leases pieces, asks the model, gives lines back.

The task's words and the choice of a line: prompts/compaction.py. What is ready, and what a line must be: the
memory service. Times are seconds.
"""

import asyncio
import secrets
from collections.abc import Mapping
from typing import Final

from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError

from onechat_agent import sentences
from onechat_agent.adapters.memory import Lease, MemoryClient, Piece
from onechat_agent.asking import Model
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.usage import Purpose
from onechat_agent.model.failures import BadRequest, ModelFailure
from onechat_agent.model.items import Item, ReplyItem, TokenUsage, ToolChoice, UserItem
from onechat_agent.patience import Patience
from onechat_agent.prompts import compaction, rendering
from onechat_agent.seat import Seat
from onechat_agent.telling import UNREACHABLE_AFTER_S, Telling
from onechat_agent.usage_book import UsageBook

AT_ONCE: Final = 8  # pieces of one log
LEASE_WAIT_S: Final = 60.0
NOTHING_PAUSE_S: Final = 1.0  # after an answer without work that came at once
PAUSE_FIRST_S: Final = 10.0
PAUSE_LONGEST_S: Final = 300.0
DAY_LIMIT_FACTOR: Final = 2  # compactions go on to twice the day's limit: unbuilt lines would hold turns

log = logs.get("onechat.agent")


class DayUsedUp(ModelFailure):
    """The agent has used twice its tokens of the day; its lines are built tomorrow."""

    retriable = True

    def __init__(self) -> None:
        super().__init__(sentences.DAY_USED_UP, code="day_used_up")


class Compactor:
    """The one builder of lines of all agents."""

    def __init__(
        self,
        *,
        memory: MemoryClient,
        model: Model,
        builder: str,
        seats: Mapping[AgentId, Seat],
        usage: UsageBook,
        telling: Telling,
        patience: Patience,
        clock: Clock,
    ) -> None:
        """`builder` is what built nodes say of their origin: the model's name, or `demo`."""
        self._memory = memory
        self._model = model
        self._builder = builder
        self._seats = seats
        self._usage = usage
        self._telling = telling
        self._patience = patience
        self._clock = clock
        self._holder = secrets.token_hex(8)
        self._pause_s = 0.0
        self._hurry = asyncio.Event()
        self._failing_since: float | None = None
        self._waiting = 0
        self._lasting: asyncio.Future[ModelFailure] | None = None

    def try_now(self) -> None:
        """Ends a pause: somebody waits for lines."""
        self._hurry.set()

    async def lasting_failure(self) -> ModelFailure:
        """Returns the next failure that no waiting mends; until then somebody counts as waiting."""
        if self._lasting is None or self._lasting.done():
            self._lasting = asyncio.get_running_loop().create_future()
        self._waiting += 1
        try:
            return await asyncio.shield(self._lasting)
        finally:
            self._waiting -= 1

    async def run(self) -> None:
        """Leases and builds until cancelled; a fault of ours costs its pieces a while and nothing else."""
        while True:
            try:
                await self._round()
            except Exception as error:  # noqa: BLE001 - turns wait for lines: it must go on
                log.error("compactor_broke", stack=logs.stack_of(error))
                await self._clock.sleep(PAUSE_FIRST_S)

    async def _round(self) -> None:
        """One lease, built."""
        began_s = self._clock.monotonic()
        lease = await self._patience.get(
            "compactions", lambda: self._memory.lease(self._holder, AT_ONCE, LEASE_WAIT_S)
        )
        if not lease.pieces:
            if self._clock.monotonic() - began_s < NOTHING_PAUSE_S:
                await self._clock.sleep(NOTHING_PAUSE_S)  # another holder is at it, or the wait is cut short
            return
        failures = await asyncio.gather(*(self._build(lease, piece) for piece in lease.pieces))
        failure = next((failure for failure in failures if failure is not None), None)
        if failure is None:
            self._pause_s = 0.0
            self._failing_since = None
        else:
            await self._pause(failure, self._seats[lease.log])

    async def _pause(self, failure: ModelFailure, seat: Seat) -> None:
        now_s = self._clock.monotonic()
        self._failing_since = now_s if self._failing_since is None else self._failing_since
        if self._waiting and failure.retriable and now_s - self._failing_since >= UNREACHABLE_AFTER_S:
            await self._telling.unreachable(seat, None, failure)
        self._pause_s = min(max(self._pause_s * 2, PAUSE_FIRST_S), PAUSE_LONGEST_S)
        log.warning("compaction_paused", code=failure.code, pause_s=self._pause_s)
        self._hurry.clear()
        if not failure.retriable and self._lasting is not None and not self._lasting.done():
            self._lasting.set_result(failure)
        pause = asyncio.ensure_future(self._clock.sleep(self._pause_s))
        hurry = asyncio.ensure_future(self._hurry.wait())
        try:
            await asyncio.wait({pause, hurry}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            pause.cancel()
            hurry.cancel()

    async def _build(self, lease: Lease, piece: Piece) -> ModelFailure | None:
        """Builds one node; the failure when no model can be had now."""
        seat = self._seats.get(lease.log)
        if seat is None:  # a log that no agent here has: given back, it would come again at once, for ever
            return None
        try:
            if self._usage.tokens_today(seat.id) >= DAY_LIMIT_FACTOR * seat.limits.tokens_per_day:
                raise DayUsedUp
            line = await self._line(seat, lease, piece)
        except ModelFailure as failure:
            content = _of_content(failure)
            await self._record(seat, failure.usage)
            log.warning(
                "compaction_failed", first=piece.first, count=piece.count, code=failure.code, content=content
            )
            await self._give_back(lease, piece, content=content)
            return None if content else failure
        if line is None:
            await self._give_back(lease, piece, content=True)
        else:
            await self._take(lease, piece, line)
        return None

    async def _line(self, seat: Seat, lease: Lease, piece: Piece) -> str | None:
        """The node's line; None when the model gave nothing that could be one."""
        task = compaction.Task(first=piece.first, count=piece.count, source=piece.source)
        items: list[Item] = [
            UserItem(text=rendering.view_text(lease.view_lines[: piece.lines_seen])),
            UserItem(text=compaction.task_text(task)),
        ]
        shortest: str | None = None
        for _ in range(compaction.TRIES):
            answer = await self._model.respond(
                seat.request(items, model=seat.compact_model, choice=ToolChoice.NONE), lambda *_: None
            )
            self._telling.succeeded()
            await self._record(seat, answer.usage)
            choice = compaction.choose(answer.text)
            if choice is None:
                return shortest
            if shortest is None or len(choice.line.encode()) < len(shortest.encode()):
                shortest = choice.line
            if choice.fits:
                return choice.line
            items += [ReplyItem(text=answer.text), UserItem(text=compaction.too_long_text(choice.line))]
        return shortest

    async def _record(self, seat: Seat, tokens: TokenUsage) -> None:
        await self._usage.record_alone(seat.id, seat.compact_model, Purpose.COMPACTION, tokens)

    async def _take(self, lease: Lease, piece: Piece, line: str) -> None:
        try:
            await self._patience.get("line", lambda: self._memory.complete(lease, piece, line, self._builder))
        except RemoteError as error:
            if error.reason == "LINE_EMPTY":
                await self._give_back(lease, piece, content=True)
            elif error.reason != "NODE_BUILT":
                log.warning("line_not_taken", first=piece.first, count=piece.count, reason=error.reason)
        else:
            log.debug("line_built", first=piece.first, count=piece.count)

    async def _give_back(self, lease: Lease, piece: Piece, *, content: bool) -> None:
        try:
            await self._patience.get("piece", lambda: self._memory.fail(lease, piece, content=content))
        except RemoteError as error:  # its lease ends by itself
            log.warning("piece_not_given_back", first=piece.first, count=piece.count, reason=error.reason)


def _of_content(failure: ModelFailure) -> bool:
    """Whether `failure` lies in the text that was sent; what would meet every text must degrade no line."""
    if failure.retriable or failure.lasting:
        return False
    if isinstance(failure, BadRequest):
        return failure.switch is None and failure.sentence != sentences.MODEL_NO_RESPONSES
    return True
