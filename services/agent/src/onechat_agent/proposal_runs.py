"""Runs what the user has said yes to: exactly what was shown, once, without a model.

The approved proposals are the queue. What a restart cuts off goes on at the next start under the same
request id; a tool that has none may have run by half, which is said. Proposals: proposals.py. Times are
seconds.
"""

import asyncio
from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

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


class ProposalRuns:
    """The runs at work; belongs to one event loop."""

    def __init__(
        self, proposals: Proposals, clock: Clock, seats: Mapping[AgentId, Seat], root: AgentId
    ) -> None:
        """`seats`: of the agents that are open. The root is always among them and has every tool."""
        self._proposals = proposals
        self._clock = clock
        self._seats = seats
        self._root = root
        self._begun: set[ProposalNumber] = set()  #: until their outcome is on disk
        self._at_work: dict[ProposalNumber, tuple[AgentId, asyncio.Future[Ended]]] = {}

    async def run(self) -> None:
        """Runs what is approved, what a restart has cut off first; and lets expire what nobody answered."""
        cut_off = {proposal.number for proposal in self._proposals.approved()}
        async with asyncio.TaskGroup() as group:
            while True:
                self._proposals.news.clear()
                for proposal in self._proposals.approved():
                    if proposal.number not in self._begun:
                        self._begun.add(proposal.number)
                        group.create_task(self._run_one(proposal, cut_off=proposal.number in cut_off))
                await self._wait(await self._proposals.expire())

    def stop(self, agents: Collection[AgentId]) -> set[AgentId]:
        """Ends the runs at work that these agents had asked for; whose they were."""
        stopped = {number: agent for number, (agent, _) in self._at_work.items() if agent in agents}
        for number in stopped:
            self._at_work[number][1].cancel()
        return set(stopped.values())

    async def _run_one(self, proposal: Proposal, *, cut_off: bool) -> None:
        """Runs it to its outcome; a stop is one, the end of the service is none."""
        running = asyncio.ensure_future(self._ran(proposal, cut_off=cut_off))
        self._at_work[proposal.number] = proposal.agent, running
        try:
            await asyncio.wait({running})
        except asyncio.CancelledError:
            running.cancel()
            await asyncio.wait({running})
            raise
        finally:
            del self._at_work[proposal.number]
        await self._proposals.over(proposal.number, *_ended(proposal, running))
        self._begun.discard(proposal.number)

    async def _ran(self, proposal: Proposal, *, cut_off: bool) -> Ended:
        """Does what was shown, as the user's own act; the agent that asked need not be there any more."""
        seat = self._seats.get(proposal.agent) or self._seats[self._root]
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
