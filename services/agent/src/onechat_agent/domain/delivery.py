"""A message on its way to one agent: what it is, whom it wakes, which turn may take it.

Sizes are UTF-8 bytes. How deliveries are stored: adapters/delivery_rows.py. The life of one: queue.py.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NewType

from onechat_agent.domain.chat import AgentId, Kind

DeliveryId = NewType("DeliveryId", int)  #: never reused
TurnId = NewType("TurnId", str)  #: random, never reused

GROUP_WAIT = timedelta(minutes=1)  #: how long an incomplete group is waited for, from its first delivery
NAME_MAX = 200  #: characters of a key, a source, a recipient, a group, an image's name
IMAGES_MAX = 100
TEXT_MAX_BYTES = 2_000_000  #: an event that holds it must fit into one response
_SOURCE = re.compile(r"(whatsapp|telegram|schedule):\S+")
HOPS_MAX = 8  #: from here on a message between agents is logged and wakes nobody


class DeliveryState(StrEnum):
    """How far a delivery is; it never goes back."""

    QUEUED = "queued"
    TAKEN = "taken"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyTo:
    """Where an answer goes, in a gateway's own terms; given back as it came."""

    chat: str = ""
    message: str = ""
    topic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDelivery:
    """What a caller hands over."""

    key: str
    to: str  #: "root", an agent's id, or "": by the source's route
    source: str  #: user, whatsapp:ID, telegram:ID, schedule:ID, an agent's id
    kind: Kind  #: USER or WORK
    text: str
    images: tuple[str, ...] = ()
    time: datetime | None = None  #: UTC; None: now
    wakes_root: bool = False
    reply_to: ReplyTo = ReplyTo()
    backed: bool = False  #: whether the user stands behind it
    tainted: bool = False  #: handed on by an agent whose turn was tainted
    hops: int = 0
    group: str = ""
    group_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A stored delivery."""

    id: DeliveryId
    key: str
    agent: AgentId
    source: str
    kind: Kind
    text: str
    images: tuple[str, ...]
    time: datetime
    wakes: bool  #: whether it starts a turn
    reply_to: ReplyTo
    backed: bool
    tainted: bool
    hops: int
    group: str
    group_count: int
    state: DeliveryState
    turn: TurnId | None
    accept_time: datetime

    @property
    def size(self) -> int:
        """UTF-8 bytes of its text."""
        return len(self.text.encode("utf-8", "replace"))


def fault(new: NewDelivery) -> str | None:
    """Why `new` cannot be taken, a sentence; None when it can."""
    if not 0 < len(new.key) <= NAME_MAX or not (new.key.isascii() and new.key.isprintable()):
        return "A delivery's key is 1 to 200 printable ASCII characters."
    if not new.text.strip() and not new.images:
        return "A delivery needs a text or an image."
    if len(new.text.encode("utf-8", "replace")) > TEXT_MAX_BYTES:
        return "A delivery's text is at most 2 MB. Put a longer one into a file and name that."
    if new.kind not in (Kind.USER, Kind.WORK):
        return "A delivery is of the kind USER or WORK."
    if new.source != "user" and not (_SOURCE.fullmatch(new.source) and new.source.isprintable()):
        return "A delivery's source is user, whatsapp:ID, telegram:ID or schedule:ID."
    if bool(new.group) != (new.group_count > 0):
        return "A group has a name and a count; without one, both are empty."
    names = (new.to, new.source, new.group, *new.images)
    if max(map(len, names)) > NAME_MAX or not all(new.images) or len(new.images) > IMAGES_MAX:
        return "A delivery's names have at most 200 characters, and it has at most 100 images."
    if max(map(len, (new.reply_to.chat, new.reply_to.message, new.reply_to.topic))) > NAME_MAX:
        return "The parts of a delivery's reply_to have at most 200 characters."
    if new.time is not None and not 1970 <= new.time.year < 9999:
        return "A delivery's time lies between the years 1970 and 9998."
    return None


def wakes(new: NewDelivery, *, to_root: bool, routed: bool) -> bool:
    """Whether `new` starts a turn of its recipient.

    The user's words always do; what is routed wakes its agent; the root is waked by what its gateway says
    would wake it. A message that agents have passed on for too long wakes nobody.
    """
    if new.hops >= HOPS_MAX:
        return False
    return new.kind is Kind.USER or routed or not to_root or new.wakes_root


def may_join(delivery: Delivery, *, turn_backed: bool) -> bool:
    """Whether `delivery` may enter a turn at work: nothing from outside enters a backed one."""
    return delivery.backed or not turn_backed


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What an agent does next with its queue."""

    without_turn: tuple[Delivery, ...] = ()  #: to be logged now, waking nobody
    turn: tuple[Delivery, ...] = ()  #: to be taken by a turn, in order
    look_again: datetime | None = None  #: when an incomplete group is no longer waited for


def choose(queued: Sequence[Delivery], now: datetime) -> Choice:
    """What to do with `queued` (in order of acceptance) when no turn is at work.

    Backed deliveries go first and alone, so that what comes from outside never enters their turn. A group
    counts once it is complete, or a minute after its first; none of it is logged before.
    """
    _, look_again = _held_groups(queued, now)
    ready = without_held_groups(queued, now)
    backed = tuple(delivery for delivery in ready if delivery.backed)
    if any(delivery.wakes for delivery in backed):
        return Choice(turn=backed, look_again=look_again)
    if any(delivery.wakes for delivery in ready):
        return Choice(turn=tuple(ready), look_again=look_again)
    return Choice(without_turn=tuple(ready), look_again=look_again)


def without_held_groups(queued: Sequence[Delivery], now: datetime) -> list[Delivery]:
    """`queued` without the groups that are still waited for, in its order."""
    held, _ = _held_groups(queued, now)
    return [delivery for delivery in queued if delivery.group not in held]


def _held_groups(queued: Sequence[Delivery], now: datetime) -> tuple[set[str], datetime | None]:
    first: dict[str, datetime] = {}
    count: dict[str, int] = {}
    for delivery in queued:
        if delivery.group:
            first[delivery.group] = min(first.get(delivery.group, delivery.accept_time), delivery.accept_time)
            count[delivery.group] = count.get(delivery.group, 0) + 1
    wanted = {delivery.group: delivery.group_count for delivery in queued}
    held = {
        group
        for group, began in first.items()
        # A clock that stepped back must not hold a group for longer than its minute.
        if count[group] < wanted[group] and abs(now - began) < GROUP_WAIT
    }
    return held, min((first[group] + GROUP_WAIT for group in held), default=None)


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
