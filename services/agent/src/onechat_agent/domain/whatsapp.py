"""WhatsApp as its gateway tells of it: the link, chats, what became of a send. Pure; instants are UTC.

How it is asked: adapters/whatsapp.py. What people read of the link: whatsapp_words.py.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class LinkState(StrEnum):
    """How the link to WhatsApp is."""

    NOT_LINKED = "not linked"
    CONNECTED = "connected"
    DISCONNECTED = "disconnected"
    LOGGED_OUT = "logged out"  #: by the phone
    REPLACED = "replaced"  #: by another session
    BANNED = "banned"  #: for a time
    OUTDATED = "outdated"  #: WhatsApp wants a newer library
    OTHER = "other"  #: one that a newer gateway knows


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkStatus:
    """The link, and what the gateway has on its hands."""

    state: LinkState
    since: datetime | None
    last_connect: datetime | None
    last_disconnect: datetime | None
    ban_end: datetime | None  #: only while banned
    last_event: datetime | None  #: when something last came from WhatsApp
    batches: int  #: not yet with the agent
    undecryptable: int  #: messages, of all chats together
    trouble: str  #: what is wrong and what to do; empty while nothing is


@dataclass(frozen=True, slots=True, kw_only=True)
class PairingCode:
    """What the user types in on the phone."""

    code: str
    expire_time: datetime | None


class ChatKind(StrEnum):
    """Whether a chat is one person or several."""

    CONTACT = "contact"
    GROUP = "group"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """A chat that can be written to."""

    id: str  #: such as 15550002222@s.whatsapp.net
    name: str  #: as the phone has it, or as others chose it
    kind: ChatKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Chats by a part of their name."""

    chats: tuple[Chat, ...]
    more: bool  #: whether others fit as well
    groups_missing: str = ""  #: why no group could be looked through, a sentence; "" where they were


class SendState(StrEnum):
    """What became of a send."""

    SENT = "sent"
    UNKNOWN = "unknown"  #: it was interrupted
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """The answer to a send: what became of the first one under its request id."""

    state: SendState
    chat: str
    time: datetime | None
    other_message: bool  #: the id was another message's before, so this one was not sent
    failure: str = ""  #: of a failed one: why, a sentence of the gateway's


class WhatsAppRefused(Exception):
    """The gateway refuses what it was asked; its text says why, in sentences for people and agents alike."""
