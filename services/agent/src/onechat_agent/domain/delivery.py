"""A message on its way to one agent: what it is, what it cannot be, and whether it wakes.

Sizes are UTF-8 bytes. Which turn takes it: taking.py. What agents say to each other: between.py. How
deliveries are stored: adapters/delivery_rows.py. The life of one: queue.py.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType

from onechat_agent.domain.chat import AgentId, Kind
from onechat_agent.domain.images import image_name

DeliveryId = NewType("DeliveryId", int)  #: never reused
TurnId = NewType("TurnId", str)  #: random, never reused

NAME_MAX = 200  #: characters of a key, a source, a recipient, a group, an image's name
IMAGES_MAX = 100
TEXT_MAX_BYTES = 2_000_000  #: an event that holds it must fit into one response
_GATEWAYS = ("whatsapp:", "telegram:", "schedule:")  #: what sources of deliveries from outside begin with
_TWO_IDS = "whatsapp:"  #: sources of the platform whose chats may have another id
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
    wakes_root: bool = False  #: whether it wakes the root, or a group's agent
    reply_to: ReplyTo = ReplyTo()
    backed: bool = False  #: whether the user stands behind it
    tainted: bool = False  #: handed on by an agent whose turn was tainted
    hops: int = 0
    group: str = ""
    group_count: int = 0
    former_source: str = ""  #: another id of the chat that `source` names, which means that one from now on


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
    meant_for: str = ""  #: whom it was for, where that one is gone and another got it instead

    @property
    def is_report(self) -> bool:
        """Whether an agent or a proposal reports to whoever waits for it."""
        outside = self.source == "user" or self.source.startswith(_GATEWAYS)
        return self.kind is Kind.WORK and not outside and not self.meant_for

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
    if new.former_source and not _is_other_id(new.former_source, new.source):
        return "A delivery's former_source is another whatsapp:ID than its source, which is one, too."
    names = (new.to, new.source, new.former_source, new.group, *new.images)
    if max(map(len, names)) > NAME_MAX or not all(new.images) or len(new.images) > IMAGES_MAX:
        return "A delivery's names have at most 200 characters, and it has at most 100 images."
    if not all(map(image_name, new.images)):
        return "A delivery's images are named as PutImage named them, such as 0123456789abcdef.png."
    if max(map(len, (new.reply_to.chat, new.reply_to.message, new.reply_to.topic))) > NAME_MAX:
        return "The parts of a delivery's reply_to have at most 200 characters."
    if new.time is not None and not 1970 <= new.time.year < 9999:
        return "A delivery's time lies between the years 1970 and 9998."
    return None


def _is_other_id(former: str, source: str) -> bool:
    """Whether `former` can be another id of the chat that `source` names."""
    both = all(one.startswith(_TWO_IDS) and _SOURCE.fullmatch(one) for one in (former, source))
    return both and former.isprintable() and former != source


def from_agent(source: str) -> bool:
    """Whether an agent of this house wrote what comes from `source`, which is then its id."""
    return source != "user" and ":" not in source


def wakes(new: NewDelivery, *, to_root: bool, routed: bool, to_group: bool = False) -> bool:
    """Whether `new` starts a turn of its recipient.

    The user's words always do; what is routed wakes its agent; the root is waked by what its gateway says
    would wake it, and so is a group's agent. A message that agents have passed on for too long wakes nobody.
    """
    if new.hops >= HOPS_MAX:
        return False
    return new.kind is Kind.USER or routed or not (to_root or to_group) or new.wakes_root
