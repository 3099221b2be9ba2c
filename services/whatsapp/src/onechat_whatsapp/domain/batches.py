"""Which messages of a chat make a batch, when it closes, and whether it wakes the root. Pure.

Outside of a catch-up a batch is measured by when its messages came, in a catch-up by when they were written.
Instants are aware, UTC; sizes are bytes of UTF-8. How a batch is worded: batch_wording.py. When there is a
catch-up: catch_up.py.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from onechat_whatsapp.domain.chat_ids import ChatId
from onechat_whatsapp.domain.ids import BatchKey, CatchUpId, MessageId
from onechat_whatsapp.domain.messages import Message

QUIET: Final = timedelta(seconds=20)
LONGEST: Final = timedelta(minutes=2)
MESSAGES_MOST: Final = 50
BYTES_MOST: Final = 1_000_000  # far above one message's; a delivery takes twice as many

CALL_BATCHES_MOST: Final = 256  # of one Deliver
CALL_BYTES_MOST: Final = 4_000_000  # far below what one call may hold


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBatch:
    """What has gathered of one chat outside of a catch-up."""

    messages: int  #: at least one
    size: int  #: of its lines
    began: datetime  #: when its first message came
    latest: datetime  #: when its last message came


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """A message that waits for its batch to close."""

    number: int  #: the order in which they came
    chat: ChatId
    message: MessageId
    chat_name: str  #: "" where none is known
    line: str  #: worded for the agent
    wakes: bool
    written: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A closed batch."""

    key: BatchKey
    chat: ChatId
    other: ChatId | None = None  #: the chat's other id, as far as it was known at the close
    text: str
    wakes: bool  #: whether it wakes the root; a routed one wakes its child in every case
    written: datetime  #: when its last message was written


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What is handed over to be taken in a single turn."""

    id: CatchUpId
    count: int  #: of its batches


def wakes_root(message: Message) -> bool:
    """Whether a batch with `message` in it wakes the root."""
    return message.calls_user if message.is_group else not message.from_me


def closes_at(batch: OpenBatch) -> datetime:
    """When `batch` closes if nothing more comes."""
    return min(batch.latest + QUIET, batch.began + LONGEST)


def is_due(batch: OpenBatch, now: datetime) -> bool:
    """Whether `batch` closes now; one from a time to come, whose clock was set back, does as well."""
    return batch.messages >= MESSAGES_MOST or now >= closes_at(batch) or now < batch.began


def has_room(batch: OpenBatch, size: int) -> bool:
    """Whether a line of so many bytes may join `batch`."""
    return batch.messages < MESSAGES_MOST and batch.size + size <= BYTES_MOST


def split_by_times(messages: Iterable[Gathered]) -> list[list[Gathered]]:
    """What came of one chat in a catch-up, as the batches it would have been when it was written.

    Within each, oldest first; so are the batches.
    """
    batches: list[list[Gathered]] = []
    last: OpenBatch | None = None
    for message in sorted(messages, key=lambda one: (one.written, one.number)):
        size = len(message.line.encode())
        if last is None or message.written >= closes_at(last) or not has_room(last, size):
            batches.append([])
            last = OpenBatch(messages=0, size=0, began=message.written, latest=message.written)
        batches[-1].append(message)
        last = OpenBatch(
            messages=last.messages + 1, size=last.size + size, began=last.began, latest=message.written
        )
    return batches


def split_by_size(messages: Sequence[Gathered]) -> list[list[Gathered]]:
    """`messages` in their order, as few batches as hold them; one, but for two chats that became one."""
    batches: list[list[Gathered]] = []
    room = 0
    for message in messages:
        size = len(message.line.encode())
        if not batches or size > room or len(batches[-1]) >= MESSAGES_MOST:
            batches.append([])
            room = BYTES_MOST
        batches[-1].append(message)
        room -= size
    return batches


def split_for_calls(batches: Sequence[Batch]) -> list[list[Batch]]:
    """`batches` in their order, as many together as one call to the agent service may hold."""
    calls: list[list[Batch]] = []
    room = 0
    for batch in batches:
        size = len(batch.text.encode())
        if not calls or size > room or len(calls[-1]) >= CALL_BATCHES_MOST:
            calls.append([])
            room = CALL_BYTES_MOST
        calls[-1].append(batch)
        room -= size
    return calls
