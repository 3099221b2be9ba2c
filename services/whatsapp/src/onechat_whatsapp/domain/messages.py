"""A message as it was read: of a known chat, by a named sender, without the user's number. Pure.

How it is read: reading.py. What becomes of it: batches.py.
"""

from dataclasses import dataclass
from datetime import datetime

from onechat_whatsapp.domain.chat_ids import ChatId
from onechat_whatsapp.domain.ids import MessageId


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A text message of a chat that the agent may know of."""

    chat: ChatId  #: as it is shown to the agent: by number where that is known
    id: MessageId
    chat_name: str  #: "" where none is known
    is_group: bool
    sender: str  #: what the agent knows the sender by; of no meaning where `from_me`
    from_me: bool  #: the user wrote it
    calls_user: bool  #: it mentions the user or replies to a message of the user
    text: str  #: not empty
    time: datetime  #: when it was written, by WhatsApp's clock; aware, UTC
