"""The transactions of a turn: its begin, its steps, its end, each one commit with its events.

The table of turns.md's crash order is kept here, in turn.py and in turn_steps.py: memory commits before the
agent wherever both do. Rows: adapters/turn_rows.py.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import apsw

from onechat_agent import sentences
from onechat_agent.adapters import agent_rows, delivery_rows, turn_rows
from onechat_agent.domain.agent import AgentState
from onechat_agent.domain.between import report
from onechat_agent.domain.chat import View
from onechat_agent.domain.delivery import Delivery, TurnId
from onechat_agent.domain.events import Answered, Body, NewEvent, Noticed, Replied, TurnChanged, TurnPhase
from onechat_agent.domain.turn import Turn, TurnState
from onechat_agent.means import Means
from onechat_agent.model.items import TokenUsage
from onechat_agent.patience import committed
from onechat_agent.seat import Seat

_PHASES: Final = {
    TurnState.ENDED: TurnPhase.ENDED,
    TurnState.STOPPED: TurnPhase.STOPPED,
    TurnState.FAILED: TurnPhase.FAILED,
}


@dataclass(slots=True)
class Unwritten:
    """What the turn's next commit takes along: events and records that are worth no commit of their own."""

    bodies: list[Body] = field(default_factory=list)
    used: list[tuple[str, TokenUsage]] = field(default_factory=list)  #: (model, tokens) of a call
    taint: bool = False


class TurnStore:
    """One turn's rows."""

    def __init__(self, means: Means, seat: Seat) -> None:
        self._means = means
        self._seat = seat
        self.unwritten = Unwritten()
        self.begun = False  #: whether the turn is on disk; it may be over by now

    async def begin(self, turn: Turn, early: Sequence[Delivery], whole: Sequence[Delivery]) -> None:
        """The turn and its deliveries, `early` ones logged before its view was read."""

        def job(db: apsw.Connection) -> None:
            self._begin(db, turn, early, whole)

        await self._write(turn.id, job)

    def _begin(
        self, db: apsw.Connection, turn: Turn, early: Sequence[Delivery], whole: Sequence[Delivery]
    ) -> None:
        turn_rows.add(db, turn)
        if self._seat.owner is not None:
            agent_rows.set_state(db, self._seat.id, AgentState.WORKING)
        if turn.view:
            self._read_generation(db, turn.generation)
        self._means.store.when_committed(self._on_disk)
        delivery_rows.take(db, turn.id, early, shown=False)
        delivery_rows.take(db, turn.id, whole, shown=True)
        self._keep(db, turn.id, TurnChanged(phase=TurnPhase.BEGUN))

    def _on_disk(self) -> None:
        self.begun = True

    def _read_generation(self, db: apsw.Connection, generation: int) -> None:
        """A view has been read, whose log has `generation`; a subagent's is its owner's."""
        if self._seat.memory_of == self._seat.id:
            agent_rows.read_generation(db, self._seat.id, generation)

    async def resume(self, turn: Turn, *, starts: int, length: int) -> None:
        """Counts another start of the turn."""

        def job(db: apsw.Connection) -> None:
            turn_rows.start_again(db, turn.id, starts=starts, length=length)
            self._keep(db, turn.id, TurnChanged(phase=TurnPhase.RESUMED))

        await self._write(turn.id, job)

    async def step(self, turn: TurnId) -> None:
        """What a step has to say: activity, usage, taint."""
        await self._write(turn, lambda _: None)

    async def join(self, turn: TurnId, deliveries: Sequence[Delivery]) -> None:
        """Deliveries that came during the turn become part of it."""

        await self._write(turn, lambda db: delivery_rows.take(db, turn, deliveries, shown=True))

    async def roll_over(
        self,
        turn: TurnId,
        view: View,
        *,
        state_block: str,
        step: int,
        hidden: Sequence[Delivery],
    ) -> None:
        """The turn goes on from a new view; `hidden` deliveries stand in it only."""

        def job(db: apsw.Connection) -> None:
            delivery_rows.hide(db, hidden)
            turn_rows.roll_over(db, turn, view, state_block=state_block, steps_before=step)
            self._read_generation(db, view.generation)

        await self._write(turn, job)

    async def ask_stop(self, turn: TurnId, reason: str) -> None:
        """From now on the turn can only end as stopped."""
        await self._write(turn, lambda db: turn_rows.ask_stop(db, turn, reason))

    async def end(
        self,
        turn: TurnId,
        state: TurnState,
        *,
        reply: str | None = None,
        notice: str | None = None,
        reason: str = "",
        fresh: tuple[Turn, Sequence[Delivery]] | None = None,
    ) -> None:
        """The turn is over and its deliveries are done; a turn that is over already stays as it is.

        Its parent or owner gets the report in this commit; clients see the reply where it is the user's.
        `fresh`: a turn that never had its view begins and ends in this one commit, with what it takes.
        """

        def job(db: apsw.Connection) -> None:
            if fresh is not None:
                self._begin(db, fresh[0], (), fresh[1])
            open_turn = turn_rows.at_work(db, self._seat.id)
            if open_turn is None or open_turn.id != turn:
                return
            stopped = open_turn.stop_reason  # it may have come while this end was on its way
            over = state if stopped is None else TurnState.STOPPED
            deliveries = delivery_rows.of_turn(db, turn)
            answered = tuple(Answered(delivery=d.id, key=d.key, reply_to=d.reply_to) for d in deliveries)
            delivery_rows.finish(db, deliveries)
            turn_rows.end(db, turn, over, self._means.clock.now())
            for_user = self._is_for_user(deliveries)
            if reply is not None and for_user:
                self._keep(db, turn, Replied(text=reply, answered=answered))
            if notice is not None:
                self._keep(db, turn, Noticed(text=notice, answered=answered))
            told = for_user or over is not TurnState.FAILED  # else the report says it
            why = (stopped or reason) if told else ""
            self._keep(db, turn, TurnChanged(phase=_PHASES[over], answered=answered, reason=why))
            self._report(db, turn, over, reply or "", reason)

        await self._write(turn, job)

    def _is_for_user(self, deliveries: Sequence[Delivery]) -> bool:
        """Whether the reply goes to the user: the root's does; what is reported only if they asked for it."""
        return self._seat.parent is None or any(one.source == "user" for one in deliveries)

    def _report(self, db: apsw.Connection, turn: TurnId, state: TurnState, reply: str, reason: str) -> None:
        """Hands what it ended with to parent or owner; a stop and an empty ending are nobody's news."""
        parent = self._seat.parent
        text = sentences.NOT_DONE.format(reason=reason) if state is TurnState.FAILED else reply.strip()
        if parent is None or state is TurnState.STOPPED or not text:
            return
        hops = delivery_rows.hops(db, turn)
        made = report(turn, sender=self._seat.id, name=self._seat.name, to=parent, text=text, hops=hops)
        self._means.queue.add_own(db, made, self._means.clock.now())

    def at_work(self) -> Turn | None:
        """The agent's turn that is not over."""
        turn = self._means.store.read(lambda db: turn_rows.at_work(db, self._seat.id))
        self.begun = self.begun or turn is not None
        return turn

    def deliveries(self, turn: TurnId) -> tuple[list[Delivery], list[Delivery]]:
        """(those in the view only, those shown whole) of the turn, in order."""

        def job(db: apsw.Connection) -> tuple[list[Delivery], list[Delivery]]:
            shown = delivery_rows.of_turn(db, turn, shown_only=True)
            ids = {delivery.id for delivery in shown}
            return [d for d in delivery_rows.of_turn(db, turn) if d.id not in ids], shown

        return self._means.store.read(job)

    def _keep(self, db: apsw.Connection, turn: TurnId, body: Body) -> None:
        self._means.events.keep(
            db,
            NewEvent(
                agent=self._seat.id,
                agent_name=self._seat.name,
                audience=self._seat.audience,
                turn=turn,
                time=self._means.clock.now(),
                body=body,
            ),
        )

    async def _write(self, turn: TurnId, job: Callable[[apsw.Connection], None]) -> None:
        """Commits `job` with what waits for a commit; on a full disk as soon as there is space again.

        Only one call is at work at a time: what waits is the turn's, and a turn does one thing after another.
        """
        taken = self.unwritten

        def both(db: apsw.Connection) -> None:
            for model, tokens in taken.used:
                self._means.usage.record(db, self._seat.id, model, self._seat.purpose, tokens)
            for body in taken.bodies:
                self._keep(db, turn, body)
            if taken.taint:
                turn_rows.taint(db, turn)
            job(db)

        def written() -> None:
            self.unwritten = Unwritten()

        def noted(db: apsw.Connection) -> None:
            both(db)
            # Also when a stop comes meanwhile: what was written must not be written twice, nor lost.
            self._means.store.when_committed(written)

        await committed(self._means.store, self._means.clock, noted)
