"""Which of what is queued for an agent is taken, and when: by a turn, into a turn at work, or by none. Pure.

What is queued comes in order of acceptance. Deliveries of one source never overtake each other: what must
wait holds back what came after it from the same source. What a delivery is: delivery.py. Sizes are UTF-8
bytes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

from onechat_agent.domain.delivery import Delivery

GROUP_WAIT = timedelta(minutes=1)  #: how long an incomplete group is waited for, from its first delivery


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSeen:
    """How much of a group is stored, over all who get something of it, done or not."""

    stored: int
    first: datetime  #: when its first delivery was accepted


Groups = Mapping[str, GroupSeen]
"""The groups of which something is queued for the agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What an agent does next with its queue."""

    without_turn: tuple[Delivery, ...] = ()  #: to be logged now, waking nobody
    turn: tuple[Delivery, ...] = ()  #: to be taken by a turn, in order
    look_again: datetime | None = None  #: when an incomplete group is no longer waited for


def choose(queued: Sequence[Delivery], groups: Groups, now: datetime) -> Choice:
    """What to do with `queued` when no turn is at work.

    Backed deliveries go first and alone, so that what comes from outside never enters their turn; but for
    one that came after something unbacked of its own source, which has a turn of its own after that. A group
    counts once it is whole, or a minute after its first; none of it is logged before.
    """
    held = _held(queued, groups, now)
    look_again = min((groups[group].first + GROUP_WAIT for group in held), default=None)
    ready = in_order(queued, lambda delivery: delivery.group not in held)
    backed = in_order(ready, lambda delivery: delivery.backed)
    if any(delivery.wakes for delivery in backed):
        return Choice(turn=tuple(backed), look_again=look_again)
    first = {delivery.id for delivery in backed}
    rest = tuple(delivery for delivery in ready if not delivery.backed or delivery.id in first)
    if any(delivery.wakes for delivery in rest):
        return Choice(turn=rest, look_again=look_again)
    return Choice(without_turn=rest, look_again=look_again)


def choose_one(queued: Sequence[Delivery], groups: Groups, now: datetime) -> Choice:
    """The same for the agent of a group: each message that wakes has a turn of its own, in order.

    What came before it and wakes nobody is logged first, so that the turn's view shows it.
    """
    held = _held(queued, groups, now)
    look_again = min((groups[group].first + GROUP_WAIT for group in held), default=None)
    ready = in_order(queued, lambda delivery: delivery.group not in held)
    quiet = tuple(takewhile(lambda delivery: not delivery.wakes, ready))
    if quiet:
        return Choice(without_turn=quiet, look_again=look_again)
    return Choice(turn=tuple(ready[:1]), look_again=look_again)


def joining(
    queued: Sequence[Delivery], groups: Groups, now: datetime, *, turn_backed: bool
) -> list[Delivery]:
    """What of `queued` may enter a turn at work at its next step; of a group only what is whole.

    Into a backed turn come the user's words and reports, which taint it, and nothing else.
    """
    held = _held(queued, groups, now)

    def may(delivery: Delivery) -> bool:
        return delivery.group not in held and (
            not turn_backed or delivery.backed or (delivery.is_report and delivery.tainted)
        )

    return in_order(queued, may)


def in_order(deliveries: Sequence[Delivery], may: Callable[[Delivery], bool]) -> list[Delivery]:
    """Those that `may`, without what comes after one of its own source that may not."""
    waiting: set[str] = set()
    going: list[Delivery] = []
    for delivery in deliveries:
        if delivery.source in waiting or not may(delivery):
            waiting.add(delivery.source)
        else:
            going.append(delivery)
    return going


def _held(queued: Sequence[Delivery], groups: Groups, now: datetime) -> set[str]:
    """The groups of `queued` that are not whole and still waited for."""
    wanted = {delivery.group: delivery.group_count for delivery in queued if delivery.group}
    return {
        group
        for group, count in wanted.items()
        # A clock that stepped back must not hold a group for longer than its minute.
        if groups[group].stored < count and abs(now - groups[group].first) < GROUP_WAIT
    }


def whole_ones(
    deliveries: Sequence[Delivery], room: int
) -> tuple[tuple[Delivery, ...], tuple[Delivery, ...]]:
    """Splits into (older ones that are only logged, newest ones that a call holds whole within `room` bytes).

    The newest may take twice that; one that is longer still is read in the view, as no call could hold it.
    """
    used = 0
    cut = len(deliveries)
    while cut > 0:
        used += deliveries[cut - 1].size
        if used > (room if cut < len(deliveries) else 2 * room):
            break
        cut -= 1
    return tuple(deliveries[:cut]), tuple(deliveries[cut:])
