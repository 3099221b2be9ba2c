"""How subagents are stopped: by name, with their owner, or all; also those that wait in line for a place.

A stop is on disk before it is carried out, in the transaction of whoever asks for it. What a stopped subagent
had queued is logged and wakes nobody, so that it knows its task if more is said to it later. Times are UTC.
"""

from dataclasses import dataclass
from datetime import datetime

import apsw
from onechat_runtime.store import Store

from onechat_agent import sentences
from onechat_agent.adapters import agent_rows, delivery_rows, turn_rows
from onechat_agent.domain.agent import AgentState
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import Delivery
from onechat_agent.subagents import OpenSubagent, Subagents
from onechat_agent.turn import TurnAtWork


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentStop:
    """A stop of some subagents, found and still to be written and carried out, in this order."""

    before: datetime | None
    chosen: tuple[
        tuple[OpenSubagent, TurnAtWork | None], ...
    ]  #: with the turn that it ends, if one is at work
    subagents: Subagents

    @property
    def names(self) -> list[str]:
        """Whom it stops."""
        return [there.seat.name for there, _ in self.chosen]

    def write(self, db: apsw.Connection) -> None:
        """From this commit on they are stopped, also after a restart."""
        for there, turn in self.chosen:
            agent = there.seat.id
            delivery_rows.wake_nobody(db, agent, self.before)
            if turn is not None and turn.id is not None:
                turn_rows.ask_stop(db, turn.id, sentences.STOPPED)
            if not any(delivery.wakes for delivery in delivery_rows.queued(db, agent)):
                agent_rows.set_state(db, agent, AgentState.STOPPED)

    def carry_out(self, store: Store) -> None:
        """Ends what is at work, and takes the others out of the line; once it is on disk."""
        for there, turn in self.chosen:
            agent = there.seat.id
            if turn is not None:
                turn.stop()
            elif agent not in self.subagents.places and not _waking(store, agent):
                self.subagents.places.leave(agent)


def stop_of(
    subagents: Subagents, store: Store, whom: AgentId | None, *, before: datetime | None
) -> SubagentStop:
    """A stop of the subagents of `whom`, or of the subagent `whom` itself; None: of all there are.

    Only what began before `before` counts, a turn or a message that waits; None: all that is there now.
    """
    among = [one for one in subagents.open.values() if whom in (None, one.seat.id, one.seat.parent)]
    found = ((there, there.loop.turn_before(before)) for there in among)
    chosen = tuple((there, turn) for there, turn in found if turn is not None or _waits(store, there, before))
    return SubagentStop(before=before, chosen=chosen, subagents=subagents)


def _waits(store: Store, there: OpenSubagent, before: datetime | None) -> bool:
    """Whether something waits for it that had come before `before`, and no turn of its is at work."""
    return there.loop.turn_before(None) is None and any(
        before is None or delivery.accept_time <= before for delivery in _waking(store, there.seat.id)
    )


def _waking(store: Store, agent: AgentId) -> list[Delivery]:
    """What waits for `agent` and would wake it."""
    return [one for one in store.read(lambda db: delivery_rows.queued(db, agent)) if one.wakes]
