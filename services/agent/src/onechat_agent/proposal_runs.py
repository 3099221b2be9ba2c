"""Runs what the user has said yes to: exactly what was shown, once, without a model.

The approved proposals are the queue. What a restart cuts off goes on at the next start under the same
request id; a tool that has none may have run by half, which is said. Proposals: proposals.py. Times are
seconds.
"""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock

from onechat_agent import sentences
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.proposal import Proposal, ProposalNumber, ProposalState
from onechat_agent.proposals import Proposals
from onechat_agent.seat import Seat
from onechat_agent.tools.tool import CallContext, Resumption, ToolResult

LOOK_AGAIN_S: Final = 600.0  # while something is open: a clock that was set is noticed within this time

log = logs.get("onechat.agent")

Ended = tuple[ProposalState, str]
"""How a run ended, and what it gave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAtWork:
    """A run that has not ended."""

    agent: AgentId  #: who had asked for it
    began_s: float  #: by the monotonic clock
    running: asyncio.Future[Ended]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStop:
    """A stop of some runs, found and still to be written and carried out, in this order."""

    proposals: Proposals
    chosen: Mapping[ProposalNumber, RunAtWork]

    @property
    def agents(self) -> set[AgentId]:
        """Whose runs it stops."""
        return {run.agent for run in self.chosen.values()}

    def write(self, db: apsw.Connection) -> None:
        """From this commit on they are over, also after a restart."""
        for number in self.chosen:
            self.proposals.stopped(db, number)

    def carry_out(self) -> None:
        """Ends what runs, once that is on disk."""
        for run in self.chosen.values():
            run.running.cancel()


class ProposalRuns:
    """The runs at work; belongs to one event loop."""

    def __init__(
        self, proposals: Proposals, clock: Clock, seats: Mapping[AgentId, Seat], root: AgentId
    ) -> None:
        """`seats`: of the agents that are open. The root is always among them and has every tool.

        Made before anybody can answer: what is approved by now was cut off.
        """
        self._proposals = proposals
        self._clock = clock
        self._seats = seats
        self._root = root
        self._cut_off = frozenset(proposal.number for proposal in proposals.approved())
        self._begun: set[ProposalNumber] = set()  #: until their outcome is on disk
        self._at_work: dict[ProposalNumber, RunAtWork] = {}

    async def run(self) -> None:
        """Runs what is approved, what a restart has cut off first; and lets expire what nobody answered."""
        async with asyncio.TaskGroup() as group:
            while True:
                self._proposals.news.clear()
                for proposal in self._proposals.approved():
                    if proposal.number not in self._begun:
                        self._begun.add(proposal.number)
                        group.create_task(self._run_one(proposal))
                await self._wait(await self._next_expiry())

    def stop_of(self, agents: Collection[AgentId] | None, *, before: datetime | None) -> "RunStop":
        """A stop of what these agents (None: any) had asked for and began before `before` (None: now)."""
        now, monotonic_s = self._clock.now(), self._clock.monotonic()
        chosen = {
            number: run
            for number, run in self._at_work.items()
            if (agents is None or run.agent in agents)
            and (before is None or now - timedelta(seconds=monotonic_s - run.began_s) <= before)
        }
        return RunStop(proposals=self._proposals, chosen=chosen)

    async def _run_one(self, proposal: Proposal) -> None:
        """Runs it to its outcome; a stop is one, the end of the service is none."""
        running = asyncio.ensure_future(self._ran(proposal))
        began_s = self._clock.monotonic()
        self._at_work[proposal.number] = RunAtWork(agent=proposal.agent, began_s=began_s, running=running)
        try:
            await asyncio.wait({running})
        except asyncio.CancelledError:
            running.cancel()
            await asyncio.wait({running})
            raise
        finally:
            del self._at_work[proposal.number]
        try:
            await self._proposals.over(proposal.number, *_ended(proposal, running))
        except Exception as error:  # noqa: BLE001 - it is approved still, and the next start goes on with it
            log.error("outcome_broke", proposal=proposal.number, stack=logs.stack_of(error))
            return
        self._begun.discard(proposal.number)

    async def _ran(self, proposal: Proposal) -> Ended:
        """Does what was shown, as the user's own act; the agent that asked need not be there any more."""
        seat = self._seats.get(proposal.agent) or self._seats[self._root]
        cut_off = proposal.number in self._cut_off
        if cut_off and seat.toolbox.resumption(proposal.tool) is Resumption.UNKNOWN:
            return ProposalState.UNKNOWN, sentences.PROPOSAL_INTERRUPTED
        workdir = Path(proposal.workdir)
        if await seat.toolbox.target(proposal.tool, proposal.arguments, workdir) != proposal.target:
            return ProposalState.FAILED, sentences.PROPOSAL_ELSEWHERE
        context = CallContext(
            agent=proposal.agent,
            agent_name=proposal.agent_name,
            memory_of=seat.memory_of,
            turn=proposal.turn,
            call_key=proposal.run_id,
            backed=True,
            tainted=False,
            hops=0,
            workdir=workdir,
        )
        result = await seat.toolbox.run_approved(proposal.tool, proposal.arguments, context)
        return _state_after(result), result.text

    async def _next_expiry(self) -> datetime | None:
        """Lets expire what is due; a fault of that holds up no run: it is logged, and tried again."""
        try:
            return await self._proposals.expire()
        except Exception as error:  # noqa: BLE001 - as its docstring says
            log.error("expiry_broke", stack=logs.stack_of(error))
            return self._clock.now() + timedelta(seconds=LOOK_AGAIN_S)

    async def _wait(self, until: datetime | None) -> None:
        """Until there is something to run or to expire."""
        waits: set[asyncio.Future[Any]] = {asyncio.ensure_future(self._proposals.news.wait())}
        if until is not None:
            left_s = max((until - self._clock.now()).total_seconds(), 0.0)
            waits.add(asyncio.ensure_future(self._clock.sleep(min(left_s, LOOK_AGAIN_S))))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()


def _ended(proposal: Proposal, running: "asyncio.Future[Ended]") -> Ended:
    if running.cancelled():
        return ProposalState.FAILED, sentences.PROPOSAL_STOPPED
    error = running.exception()
    if error is None:
        return running.result()
    log.error("proposal_broke", proposal=proposal.number, stack=logs.stack_of(error))
    return ProposalState.UNKNOWN, sentences.OWN_FAULT


def _state_after(result: ToolResult) -> ProposalState:
    if not result.failed:
        return ProposalState.DONE
    return ProposalState.FAILED if result.outcome_known else ProposalState.UNKNOWN
