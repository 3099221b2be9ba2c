"""When a batch of what is learned silently closes; the limits are those of WhatsApp's. Instants are UTC."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from onechat_telegram.groups.domain.ids import ChatId, MessageKey

QUIET: Final = timedelta(seconds=20)
LONGEST: Final = timedelta(minutes=2)
MESSAGES_MOST: Final = 50
IMAGES_MOST: Final = 100  # a delivery names no more
BYTES_MOST: Final = 1_000_000  # of UTF-8, far above one message's; a delivery takes twice as many


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What has gathered of one group."""

    chat: ChatId
    first: MessageKey
    messages: int  #: at least one
    images: int
    size: int  #: of its lines, bytes of UTF-8
    began: datetime  #: when its first message came
    latest: datetime  #: when its last message came


def closes_at(batch: Batch) -> datetime:
    """When `batch` closes if nothing more comes."""
    return min(batch.latest + QUIET, batch.began + LONGEST)


def is_due(batch: Batch, now: datetime) -> bool:
    """Whether `batch` closes now; one from a time to come, whose clock was set back, does as well."""
    return batch.messages >= MESSAGES_MOST or now >= closes_at(batch) or now < batch.began


def has_room(batch: Batch, images: int, size: int) -> bool:
    """Whether a message with so many images, and a line of so many bytes, may join `batch`."""
    fits = batch.images + images <= IMAGES_MOST and batch.size + size <= BYTES_MOST
    return fits and batch.messages < MESSAGES_MOST
