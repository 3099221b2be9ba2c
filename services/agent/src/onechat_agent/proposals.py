"""What awaits the user's yes: kept with its event, answered once, and its outcome told.

A yes is on disk before anything runs; the outcome, its event and the message to the agent that asked are one
transaction. So whenever the service dies, the next start knows what to do. How approved ones run:
proposal_runs.py. A call that is held back: domain/proposal.py. What people read: proposal_words.py, and
agents: prompts/proposals.py. Times are seconds.
"""

import asyncio
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.request_ids import once
from onechat_runtime.store import Store

from onechat_agent import sentences
from onechat_agent.adapters import agent_rows, delivery_rows, proposal_rows
from onechat_agent.asked_from import asked_from
from onechat_agent.domain.agent import AgentState
from onechat_agent.domain.chat import Kind
from onechat_agent.domain.delivery import HOPS_MAX, NewDelivery
from onechat_agent.domain.events import Body, NewEvent, PictureShown, ProposalChanged
from onechat_agent.domain.keys import outcome_key
from onechat_agent.domain.proposal import Held, Proposal, ProposalNumber, ProposalState
from onechat_agent.errors import ProposalUnknown
from onechat_agent.events import Events
from onechat_agent.patience import committed
from onechat_agent.prompts import proposals as words_for_agents
from onechat_agent.proposal_words import asked, outcome
from onechat_agent.queue import Queue

ANSWER_WAIT_S: Final = 3.0  # an answer waits so long for how the run went; after that it says that it runs
EXPIRED_AT_ONCE: Final = 50

log = logs.get("onechat.agent")


class Proposals:
    """All proposals of all agents; belongs to one event loop."""

    def __init__(self, store: Store, clock: Clock, events: Events, queue: Queue) -> None:
        self._store = store
        self._clock = clock
        self._events = events
        self._queue = queue
        self._ends: dict[ProposalNumber, asyncio.Event] = {}
        self.news = asyncio.Event()  #: there may be something to run, or to expire

    # ------------------------------------------------------------ proposing

    def of_call(self, call_key: str) -> ProposalNumber | None:
        """What the call of this key has proposed already."""
        return self._store.read(lambda db: proposal_rows.of_call(db, call_key))

    async def propose(self, held: Held) -> ProposalNumber:
        """Keeps `held` with its event; the same call, or the same act in one turn, proposes once."""

        def job(db: apsw.Connection) -> ProposalNumber:
            known = proposal_rows.of_call(db, held.call_key) or proposal_rows.open_alike(db, held)
            if known is not None:
                return known
            name = agent_rows.name_of(db, held.agent)
            number = proposal_rows.add(db, held, self._clock.now(), lambda number: asked(held, number, name))
            self._tell(db, number, held.pictures)
            self._store.when_committed(self.news.set)
            return number

        number = await committed(self._store, self._clock, job)
        log.info("proposed", proposal=number, tool=held.tool, agent=held.agent)
        return number

    # ------------------------------------------------------------ answering

    def find(self, number: int) -> Proposal:
        """The proposal of that number. Raises ProposalUnknown."""
        found = self._store.read(lambda db: proposal_rows.by_number(db, number))
        if found is None:
            raise ProposalUnknown()
        return found

    def open(self, limit: int) -> list[Proposal]:
        """The newest open ones."""
        return self.page(state=ProposalState.OPEN, before=None, limit=limit)

    def page(self, *, state: ProposalState | None, before: int | None, limit: int) -> list[Proposal]:
        """Newest first, with numbers below `before`."""
        return self._store.read(lambda db: proposal_rows.newest(db, state=state, before=before, limit=limit))

    async def answer(self, number: int, *, yes: bool, request_id: str, body: bytes) -> Proposal:
        """Takes the user's answer, and how far the proposal is then; a later answer changes nothing.

        A yes is on disk when the run begins, and waits a little for its end. Raises ProposalUnknown,
        KeyReused, BadRequestId.
        """

        def job(db: apsw.Connection) -> bytes:
            return once(
                db,
                request_id=request_id,
                body=body,
                now=self._clock.now(),
                answer=lambda: self._answered(db, number, yes=yes),
            )

        if not 0 < number < 1 << 63:
            raise ProposalUnknown()
        await self._store.write(job)
        return await self._soon_over(ProposalNumber(number))

    def _answered(self, db: apsw.Connection, number: int, *, yes: bool) -> bytes:
        proposal = proposal_rows.by_number(db, number)
        if proposal is None:
            raise ProposalUnknown()
        if proposal.state is not ProposalState.OPEN:
            return b""
        agent = agent_rows.agent(db, proposal.agent)
        if agent is None or agent.state is AgentState.REMOVED:
            self._end(db, proposal, ProposalState.EXPIRED, sentences.PROPOSAL_AGENT_GONE)
        elif proposal.expired(self._clock.now()):
            self._end(db, proposal, ProposalState.EXPIRED)
        elif yes:
            proposal_rows.set_state(db, proposal.number, ProposalState.APPROVED)
            self._tell(db, proposal.number)
            self._store.when_committed(self.news.set)
        else:
            self._end(db, proposal, ProposalState.REFUSED)
        log.info("proposal_answered", proposal=number, yes=yes)
        return b""

    def approved(self) -> list[Proposal]:
        """Those that have their yes and are not over, oldest first."""
        return self._store.read(lambda db: proposal_rows.of_state(db, ProposalState.APPROVED))

    async def _soon_over(self, number: ProposalNumber) -> Proposal:
        """The proposal once it is over, or after a short while as it is."""
        end = self._ends.setdefault(number, asyncio.Event())
        if self.find(number).state is ProposalState.APPROVED:
            waits = {
                asyncio.ensure_future(end.wait()),
                asyncio.ensure_future(self._clock.sleep(ANSWER_WAIT_S)),
            }
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()
        found = self.find(number)
        if found.state is not ProposalState.APPROVED:
            self._ends.pop(number, None)
        return found

    # ------------------------------------------------------------ what is over

    async def over(self, number: ProposalNumber, state: ProposalState, result: str) -> None:
        """The run has ended so, and gave `result`; one that was stopped meanwhile stays so."""
        await committed(self._store, self._clock, lambda db: self._ran(db, number, state, result))
        log.info("proposal_over", proposal=number, state=state)

    def stopped(self, db: apsw.Connection, number: ProposalNumber) -> None:
        """In the transaction of a stop: the run is over, whatever it does still, and wakes nobody."""
        self._ran(db, number, ProposalState.FAILED, sentences.PROPOSAL_STOPPED, quiet=True)

    def _ran(
        self,
        db: apsw.Connection,
        number: ProposalNumber,
        state: ProposalState,
        result: str,
        *,
        quiet: bool = False,
    ) -> None:
        proposal = proposal_rows.by_number(db, number)
        if proposal is not None and proposal.state is ProposalState.APPROVED:
            self._end(db, proposal, state, result, quiet=quiet)

    async def expire(self) -> datetime | None:
        """Ends the open ones whose time is over; when the next one's is."""

        def job(db: apsw.Connection) -> int:
            due = proposal_rows.due(db, self._clock.now(), limit=EXPIRED_AT_ONCE)
            for proposal in due:
                self._end(db, proposal, ProposalState.EXPIRED)
            return len(due)

        def is_due(db: apsw.Connection) -> bool:
            return bool(proposal_rows.due(db, self._clock.now(), limit=1))

        while self._store.read(is_due):
            expired = await committed(self._store, self._clock, job)
            log.info("proposals_expired", proposals=expired)
        return self._store.read(proposal_rows.next_expiry)

    def _end(
        self,
        db: apsw.Connection,
        proposal: Proposal,
        state: ProposalState,
        result: str = "",
        *,
        quiet: bool = False,
    ) -> None:
        """It is over: its state, the event, and the message to the agent that asked, in one transaction.

        An answer is the user's own, and what follows from it begins to count the hops anew. What nobody
        answered is one hop more, so that no agent asks for the same day after day by itself; and it sets
        nobody to work whom the user has stopped.
        """
        shown = outcome(result) if result else ""
        proposal_rows.set_state(db, proposal.number, state, shown)
        self._tell(db, proposal.number)
        hops = HOPS_MAX if quiet else 0
        agent = agent_rows.agent(db, proposal.agent)
        if state is ProposalState.EXPIRED:
            stopped = agent is not None and agent.state is AgentState.STOPPED
            hops = HOPS_MAX if stopped else delivery_rows.hops(db, proposal.turn) + 1
        where = asked_from(db, agent, proposal.turn)
        told = NewDelivery(
            key=outcome_key(proposal.number, proposal.turn),
            to=proposal.agent,
            source=f"proposal:{proposal.number}",
            kind=Kind.WORK,
            text=words_for_agents.outcome(proposal, state, result, private=where.private),
            wakes_root=True,
            reply_to=where.reply_to,
            tainted=True,
            hops=hops,
        )
        self._queue.add_own(db, told, self._clock.now())
        self._store.when_committed(lambda: self._wake(proposal.number))

    def _wake(self, number: ProposalNumber) -> None:
        end = self._ends.pop(number, None)
        if end is not None:
            end.set()

    def _tell(self, db: apsw.Connection, number: ProposalNumber, pictures: Sequence[str] = ()) -> None:
        """The event with the whole proposal as it stands in this transaction; it is for the user's eyes.

        `pictures` are shown before it, by their stored names.
        """
        proposal = proposal_rows.by_number(db, number)
        assert proposal is not None
        caption = sentences.PROPOSED_PICTURE.format(number=number)
        changed = ProposalChanged(
            number=number,
            tool=proposal.tool,
            arguments=proposal.arguments,
            text=proposal.text,
            state=proposal.state,
            expire_time=proposal.expire_time,
            outcome=proposal.outcome,
        )
        shown = [PictureShown(image=one, caption=caption, answered=()) for one in pictures]
        bodies: list[Body] = [*shown, changed]
        for body in bodies:
            event = NewEvent(
                agent=proposal.agent,
                agent_name=proposal.agent_name,
                turn=proposal.turn,
                time=self._clock.now(),
                body=body,
            )
            self._events.keep(db, event)


def body_of(number: int, *, yes: bool) -> bytes:
    """What makes two answers the same, from whichever call they come."""
    return b"proposal\0" + json.dumps([number, yes]).encode()
