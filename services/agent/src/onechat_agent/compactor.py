"""Builds the lines of the memory: leases pieces, has each written, gives lines back. Times are seconds.

A piece's place is free as soon as it is done, so a slow one holds up no other. How a line is asked for:
line_writer.py. Which calls wait for another's prefix: prefix_gate.py. Pauses: outages.py. An agent's limit
of a day: day_limit.py. What is ready, and what a line must be: the memory service.
"""

import asyncio
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError

from onechat_agent.adapters.memory import Asked, Lease, MemoryClient, Piece
from onechat_agent.asking import Model
from onechat_agent.day_limit import DayLimit
from onechat_agent.domain.chat import AgentId
from onechat_agent.line_writer import LineWriter, of_content, prefixes
from onechat_agent.model.failures import ModelFailure
from onechat_agent.outages import PAUSE_FIRST_S, Outages
from onechat_agent.patience import Patience
from onechat_agent.prefix_gate import Place, PrefixGate
from onechat_agent.prompts.compaction import Task
from onechat_agent.seat import Seat
from onechat_agent.telling import Telling
from onechat_agent.usage_book import UsageBook

LEASED_MAX: Final = 8  # pieces of one log; the memory service's
OUT_MAX: Final = 16  # of all logs: two busy ones at full speed; more only meets the model's rate limit
LEASE_WAIT_S: Final = 60.0
NOTHING_PAUSE_S: Final = 1.0  # after an answer without work that came at once

log = logs.get("onechat.agent")


class _NoLine(StrEnum):
    """Why a piece has no line."""

    CONTENT = "content"
    UNAVAILABLE = "unavailable"
    TOMORROW = "tomorrow"  #: its agent's day is used up; given back it would come again at once


@dataclass(slots=True, kw_only=True)
class _Job:
    """A piece at work."""

    lease: Lease
    piece: Piece  #: renewed when the memory service hands it out once more
    asked: Asked = field(default_factory=Asked)

    @property
    def key(self) -> tuple[AgentId, int, int, int]:
        """Its log, the log's generation, and its node."""
        return self.lease.log, self.lease.generation, self.piece.first, self.piece.count


class Compactor:
    """The one builder of lines of all agents."""

    def __init__(
        self,
        *,
        memory: MemoryClient,
        model: Model,
        seats: Mapping[AgentId, Seat],
        usage: UsageBook,
        telling: Telling,
        day: DayLimit,
        patience: Patience,
        clock: Clock,
    ) -> None:
        self._memory = memory
        self._seats = seats
        self._day = day
        self._patience = patience
        self._clock = clock
        self._writer = LineWriter(model, usage, telling)
        self._outages = Outages(telling, clock)
        self._gate = PrefixGate(clock)
        self._holder = secrets.token_hex(8)
        self._jobs: dict[tuple[AgentId, int, int, int], _Job] = {}  # by their keys
        self._working: set[asyncio.Task[None]] = set()

    def try_now(self) -> None:
        """Ends a pause: somebody waits for lines."""
        self._outages.hurry()

    async def lasting_failure(self) -> ModelFailure:
        """Returns the next failure that no waiting mends; until then somebody counts as waiting."""
        return await self._outages.lasting_failure()

    async def run(self) -> None:
        """Leases and builds until cancelled; a fault of ours costs its pieces a while and nothing else.

        What is out then needs no word: the next start is another holder, and that frees it.
        """
        async with asyncio.TaskGroup() as workers:
            while True:
                try:
                    await self._lease(workers)
                except Exception as error:  # noqa: BLE001 - turns wait for lines: it must go on
                    log.error("compactor_broke", stack=logs.stack_of(error))
                    await self._clock.sleep(PAUSE_FIRST_S)

    async def _lease(self, workers: asyncio.TaskGroup) -> None:
        """One lease, put to work."""
        while len(self._working) >= OUT_MAX:
            await asyncio.wait(self._working, return_when=asyncio.FIRST_COMPLETED)
        await self._outages.over()
        began_s, most = self._clock.monotonic(), min(LEASED_MAX, OUT_MAX - len(self._working))
        lease = await self._patience.get(
            "compactions", lambda: self._memory.lease(self._holder, most, LEASE_WAIT_S)
        )
        if not lease.pieces:
            if self._clock.monotonic() - began_s < NOTHING_PAUSE_S:
                await self._clock.sleep(NOTHING_PAUSE_S)  # another holder is at it, or the wait is cut short
            return
        seat = self._seats.get(lease.log)
        if seat is not None:  # one without would come again at once, for ever, if it were given back
            self._put_to_work(workers, seat, lease)

    def _put_to_work(self, workers: asyncio.TaskGroup, seat: Seat, lease: Lease) -> None:
        """A worker for each piece that has none yet.

        A slow piece outlives its lease and is handed out again. It is not asked for twice: the new lease
        takes the place of the old one.
        """
        jobs = [_Job(lease=lease, piece=piece) for piece in lease.pieces]
        for job in jobs:
            if at_work := self._jobs.get(job.key):
                at_work.piece = job.piece
        fresh = [job for job in jobs if job.key not in self._jobs]
        seen = [job.piece.lines_seen for job in fresh]
        for job, place in zip(fresh, self._gate.line_up(prefixes(seat, lease.view_lines, seen)), strict=True):
            self._jobs[job.key] = job
            worker = workers.create_task(self._work(seat, job, place))
            self._working.add(worker)
            worker.add_done_callback(self._working.discard)

    async def _work(self, seat: Seat, job: _Job, place: Place) -> None:
        """One piece until it is back; raises nothing, since that would end the others."""
        try:
            async with self._gate.through(place) as started:
                line = await self._line(seat, job, started)
            if not isinstance(line, _NoLine):
                await self._take(seat, job, line)
            elif line is not _NoLine.TOMORROW:  # else its lease ends by itself
                await self._give_back(job, line)
        except Exception as error:  # noqa: BLE001 - its lease ends by itself
            log.error("compactor_broke", stack=logs.stack_of(error))
        finally:
            self._leave(job)

    async def _line(self, seat: Seat, job: _Job, started: Callable[[], None]) -> str | _NoLine:
        """The line of a piece, or why there is none; a failure pauses before the next call is let through."""
        if self._outages.on:
            return _NoLine.UNAVAILABLE
        if self._day.holds_lines(seat):
            log.debug("line_waits_for_tomorrow", agent=seat.name)
            return _NoLine.TOMORROW
        began, piece = self._outages.count, job.piece
        task = Task(first=piece.first, count=piece.count, source=piece.source)
        try:
            line = await self._writer.line(
                seat, job.lease.view_lines[: piece.lines_seen], task, job.asked, started
            )
        except ModelFailure as failure:
            content = of_content(failure)
            log.warning(
                "compaction_failed", first=piece.first, count=piece.count, code=failure.code, content=content
            )
            if not content:
                await self._outages.failed(failure, seat, began)
                return _NoLine.UNAVAILABLE
            line = None
        self._outages.answered(began)
        return _NoLine.CONTENT if line is None else line

    async def _take(self, seat: Seat, job: _Job, line: str) -> None:
        """Brings a line, which says of its origin which model its agent's lines are written by."""
        piece, builder = job.piece, seat.compact_model
        try:
            await self._patience.get(
                "line", lambda: self._memory.complete(job.lease, piece, line, builder, job.asked)
            )
        except RemoteError as error:
            if error.reason == "LINE_EMPTY":
                await self._give_back(job, _NoLine.CONTENT)
            elif error.reason != "NODE_BUILT":
                log.warning("line_not_taken", first=piece.first, count=piece.count, reason=error.reason)
        else:
            log.debug("line_built", first=piece.first, count=piece.count)

    async def _give_back(self, job: _Job, why: _NoLine) -> None:
        content = why is _NoLine.CONTENT
        self._leave(job)  # it may be handed out again before this call has its answer
        try:
            await self._patience.get(
                "piece", lambda: self._memory.fail(job.lease, job.piece, job.asked, content=content)
            )
        except RemoteError as error:  # its lease ends by itself
            piece = job.piece
            log.warning("piece_not_given_back", first=piece.first, count=piece.count, reason=error.reason)

    def _leave(self, job: _Job) -> None:
        if self._jobs.get(job.key) is job:
            del self._jobs[job.key]
