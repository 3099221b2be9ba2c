"""Ids of messages, batches and catch-ups, made here alone. Ids of chats: chat_ids.py.

Keys are hashes, so that they are short, plain ASCII and hold nobody's number.
"""

import hashlib
import json
from datetime import datetime
from typing import NewType

from onechat_whatsapp.domain.chat_ids import ChatId

MessageId = NewType("MessageId", str)  #: WhatsApp's own, unique within its chat
BatchKey = NewType("BatchKey", str)  #: of the delivery
ParcelKey = NewType("ParcelKey", str)  #: of what is handed over in one call
CatchUpId = NewType("CatchUpId", str)  #: of what goes into one turn; random, never used again


def key_of_batch(chat: ChatId, first: MessageId, written: datetime) -> BatchKey:
    """The key of the batch that begins with that message, so that a batch made again is known as the same.

    With the time, which WhatsApp gives, since an id is whatever its sender says.
    """
    said = json.dumps([chat, first, int(written.timestamp())])
    return BatchKey(f"whatsapp:{hashlib.sha256(said.encode()).hexdigest()[:40]}")


def key_of_parcel(first: BatchKey) -> ParcelKey:
    """The key of the parcel that begins with that batch."""
    return ParcelKey(first)


def catch_up_id(bits: int) -> CatchUpId:
    """The id that 64 random bits make."""
    return CatchUpId(f"whatsapp:{bits:016x}")


def source_of(chat: ChatId) -> str:
    """What the agent service knows `chat` by, as its routes have it."""
    return f"whatsapp:{chat}"
