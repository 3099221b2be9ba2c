"""What comes from WhatsApp, in this gateway's own words. Pure values; nothing of the library.

An id is a JID as text without its device part: "15550002222@s.whatsapp.net" (a person by number),
"111222333444@lid" (a person by the id that hides the number), "120363000000000001@g.us" (a group),
"1234567@broadcast" (a list that somebody sends to). "" is an id that is not known. Instants are aware and
UTC, whole seconds, by WhatsApp's clock.

How the library's events become these: wire_child/translation.py. What is asked of WhatsApp: ports.py.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A text message. What is no text of a chat, an edit, view-once or disappearing, never becomes one; nor
    does what came in a status, a newsletter or the user's chat with themselves.

    The same message may come again, with the same `chat` and `message_id`: after a reconnect, or because
    WhatsApp was asked for it once more.
    """

    message_id: str  #: WhatsApp's own, unique within its chat
    chat: str  #: a person's id by number or LID, a group's, or a "…@broadcast" list's
    sender: str  #: by number or LID; the user's own where `from_me`
    sender_alt: str  #: the sender by the other of the two, "" where WhatsApp did not say
    recipient_alt: str  #: of the user's own private message: the other person by number; else ""
    from_me: bool  #: the user wrote it, on any device but this one
    is_group: bool  #: `chat` is a "…@g.us"
    #: As it was typed; a mention is "@" and the digits of an id. "" only where `retry`: what could not be
    #: decrypted before has come, and is no text to read.
    text: str
    mentions: tuple[str, ...]  #: ids of those who are mentioned, by number or LID; `chat` where all of it are
    quoted_author: str  #: who wrote what this replies to; "" when it replies to nothing
    push_name: str  #: what the sender calls themselves; may be ""
    time: datetime
    retry: int  #: how often WhatsApp sent it again because it could not be decrypted before; 0 mostly


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecryptable:
    """A message came that this device has no key for. It may yet come again as `Heard`, with its id.

    What would not be read with a key never becomes one, as far as WhatsApp says: view-once and the like.
    """

    message_id: str  #: never empty, unique within its chat
    chat: str  #: a person's id, by number where WhatsApp said it; a group's; a "…@broadcast" list's
    sender: str
    time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """The account is logged in: sends work. What was kept meanwhile follows, up to `CaughtUp`.

    It may come twice without a `Disconnected` between.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Disconnected:
    """The connection broke, or no longer answers. The library takes it up by itself: no `start` is needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaughtUp:
    """All that WhatsApp kept while there was no connection has come. It may fail to come."""

    count: int  #: what WhatsApp sent, receipts and the like included


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedOut:
    """The phone ended the link; the session holds no device any more. Nothing comes until a new pairing."""

    reason: str  #: WhatsApp's word for it, such as "LOGGED_OUT" or "MAIN_DEVICE_GONE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """Another process took the session. The library does not connect again until `start`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Banned:
    """WhatsApp shuts the account out for a time. The library does not connect again until `start`."""

    code: str  #: WhatsApp's word or number for the cause
    expire_s: int  #: seconds from now


@dataclass(frozen=True, slots=True, kw_only=True)
class Outdated:
    """WhatsApp wants a newer library than this one. The library does not connect again until `start`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairingStatus:
    """What became of a pairing.

    `status` is the library's word: "success"; "timeout" (nobody typed the code in); "passkey-request" (the
    account wants a passkey, which cannot be given here); "err-client-outdated"; others begin with "err".
    After "success" the connection is made anew by itself, and `Connected` follows.
    """

    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRenamed:
    """A group has a name: it was renamed, or the user joined it."""

    chat: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WireDown:
    """Nothing comes any more until `start`: the process behind the wire ended, or the library gave up.

    It is not said of an end that was asked for, by `stop`, `kill` or `forget`, nor of a `start` that failed.
    """

    why: str  #: for a log; it may be of the library's wording


WireEvent: TypeAlias = (
    Heard
    | Undecryptable
    | Connected
    | Disconnected
    | CaughtUp
    | LoggedOut
    | Replaced
    | Banned
    | Outdated
    | PairingStatus
    | GroupRenamed
    | WireDown
)
