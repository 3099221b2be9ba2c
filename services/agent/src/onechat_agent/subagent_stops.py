"""How subagents are stopped: by name, with their owner, or all; also those that wait in line for a place.

A stop is on disk before it is carried out, in the transaction of whoever asks for it. What a stopped subagent
had queued is logged and wakes nobody, so that it knows its task if more is said to it later. Times are UTC.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import apsw
from onechat_runtime.store import Store

from onechat_agent import sentences
from onechat_agent.adapters import agent_rows, delivery_rows, turn_rows
from onechat_agent.domain.agent import AgentState
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import Delivery, TurnId
from onechat_agent.domain.keys import is_of_turn
from onechat_agent.subagents import OpenSubagent, Subagents
from onechat_agent.turn import TurnAtWork


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A subagent that is stopped."""

    there: OpenSubagent
    turn: TurnAtWork | None  #: the turn that it ends, if one is at work
    before: datetime | None  #: what it was told up to then wakes it no more; None: all of it


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentStop:
    """A stop of some subagents, found and still to be written and carried out, in this order."""

    chosen: tuple[Chosen, ...]
    subagents: Subagents

    @property
    def names(self) -> list[str]:
        """Whom it stops."""
        return [one.there.seat.name for one in self.chosen]

    def without(self, stopped: "SubagentStop") -> "SubagentStop":
        """The same stop of those that `stopped` does not stop."""
        known = {one.there.seat.id for one in stopped.chosen}
        return replace(self, chosen=tuple(one for one in self.chosen if one.there.seat.id not in known))

    def write(self, db: apsw.Connection) -> None:
        """From this commit on they are stopped, also after a restart."""
        for one in self.chosen:
            agent, turn = one.there.seat.id, one.turn
            delivery_rows.wake_nobody(db, agent, one.before)
            if turn is not None and turn.id is not None:
                turn_rows.ask_stop(db, turn.id, sentences.STOPPED)
            if not any(delivery.wakes for delivery in delivery_rows.queued(db, agent)):
                agent_rows.set_state(db, agent, AgentState.STOPPED)

    def carry_out(self, store: Store) -> None:
        """Ends what is at work, and takes the others out of the line; once it is on disk."""
        for one in self.chosen:
            agent = one.there.seat.id
            # It may have begun on what it was told while that was on its way to disk.
            turn = one.turn or one.there.loop.turn_before(None)
            if turn is not None:
                turn.stop()
            elif agent not in self.subagents.places and not _waking(store, agent):
                self.subagents.places.leave(agent)


def stop_of(
    subagents: Subagents,
    store: Store,
    whom: AgentId | None,
    *,
    before: datetime | None,
    with_turns: Collection[TurnId],
) -> SubagentStop:
    """A stop of the subagents of `whom`, or of the subagent `whom` itself; None: of all there are.

    Only what began before `before` counts, a turn or a message that waits; None: all that is there now. What
    a turn of `with_turns` has set to work counts whenever it began, since that turn is stopped.
    """
    among = [one for one in subagents.open.values() if whom in (None, one.seat.id, one.seat.parent)]
    found = (_chosen(store, there, before, with_turns) for there in among)
    return SubagentStop(chosen=tuple(one for one in found if one is not None), subagents=subagents)


def _chosen(
    store: Store, there: OpenSubagent, before: datetime | None, with_turns: Collection[TurnId]
) -> Chosen | None:
    """How it is stopped; None where nothing of its began in time."""
    turn, waking = there.loop.turn_before(before), _waking(store, there.seat.id)
    at_work = turn or there.loop.turn_before(None)
    since = at_work.deliveries if at_work is not None and turn is None else ()
    if any(_is_of(one, with_turns) for one in (*waking, *since)):
        return Chosen(there=there, turn=at_work, before=None)
    if turn is None and (at_work is not None or not _any_by(waking, before)):
        return None
    return Chosen(there=there, turn=turn, before=before)


def _any_by(waking: Sequence[Delivery], before: datetime | None) -> bool:
    """Whether any of them had come by `before`; None is now."""
    return any(before is None or one.accept_time <= before for one in waking)


def _is_of(delivery: Delivery, turns: Collection[TurnId]) -> bool:
    """Whether one of `turns` has said it."""
    return any(is_of_turn(delivery.key, turn) for turn in turns)


def _waking(store: Store, agent: AgentId) -> list[Delivery]:
    """What waits for `agent` and would wake it."""
    return [one for one in store.read(lambda db: delivery_rows.queued(db, agent)) if one.wakes]
