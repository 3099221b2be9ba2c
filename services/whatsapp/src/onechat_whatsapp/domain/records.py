"""Sends and what becomes of them: one record for each request id, so that no message leaves twice. Pure.

An id that was used gets its first answer whatever it comes with again. A record is noted before anything
leaves; one that is found so after a crash may have been sent, and never is again. Where the records are kept:
adapters/send_rows.py; how a message is sent: sending.py.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

RECORDS_KEPT: Final = 1_000
ID_MAX: Final = 200  # characters of a request id


class SendState(StrEnum):
    """How far a send is."""

    SENDING = "sending"  # noted before it leaves; what becomes of it is not known yet
    SENT = "sent"
    UNKNOWN = "unknown"  # it may have been sent or not
    FAILED = "failed"  # surely not sent: WhatsApp refused it


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingMessage:
    """What is to be sent."""

    chat: str  #: as whoever asks wrote it
    text: str  #: the caption of the image, if there is one
    image: bytes | None  #: its content

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to send."""
        return self.image is None and not self.text.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class SendRecord:
    """What is kept of a send: enough to answer again, and to tell another message by."""

    request_id: str
    chat: str  #: as whoever asked wrote it
    digest: bytes  #: of what was to be sent
    state: SendState
    message_id: str  #: WhatsApp's own, "" while it is not known
    failure: str = ""  #: of a failed one: why, a sentence
    time: datetime  #: UTC; when the id was used first


def digest_of(message: OutgoingMessage) -> bytes:
    """Tells `message` from others, but for its chat, which can be written in two ways. 32 bytes."""
    image = b"" if message.image is None else hashlib.sha256(message.image).digest()
    return hashlib.sha256(image + b"\0" + message.text.encode()).digest()


def is_request_id(text: str) -> bool:
    """Whether `text` can tell a send from others."""
    return 0 < len(text) <= ID_MAX and text.isascii() and text.isprintable()
