"""What the gateway asks of the process that holds the session, and what that answers. Pure values.

Each call of ports.py that needs the process is one of these, with one answer. How they become bytes:
codec.py.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from onechat_whatsapp.wire.ports import (
    DialFailed,
    GroupRow,
    LibraryMissing,
    NotSent,
    OutcomeUnknown,
    PairingRefused,
    WireGone,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dial:
    """Connect. Answered with Done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HangUp:
    """End the connection, answer with Done, end the process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Get a pairing code. Answered with Code."""

    phone: str  #: digits in international form


@dataclass(frozen=True, slots=True, kw_only=True)
class Logout:
    """End the link on WhatsApp's side. Answered with Done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOnline:
    """Say whether the account is logged in over a connection that stands. Answered with Online."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskGroups:
    """Get the groups from WhatsApp. Answered with Groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendText:
    """Send a text. Answered with SentId."""

    chat: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SendImage:
    """Send an image. Answered with SentId."""

    chat: str
    data: bytes
    mime: str
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """It was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """A pairing code."""

    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Online:
    """Whether the account is logged in."""

    online: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """The groups that the user is in."""

    groups: tuple[GroupRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentId:
    """WhatsApp's id of a message that was sent."""

    id: str


class Failure(StrEnum):
    """Which of ports.py's failures an answer stands for."""

    GONE = "gone"
    DIAL = "dial"
    LIBRARY = "library"
    PAIRING = "pairing"
    REFUSED = "refused"  #: a send, that surely did not leave
    OFFLINE = "offline"  #: likewise, for want of a connection
    UNKNOWN = "unknown"  #: a send, of which nobody knows


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """It was not done."""

    failure: Failure
    why: str


Call: TypeAlias = Dial | HangUp | Pair | Logout | AskOnline | AskGroups | SendText | SendImage
Answer: TypeAlias = Done | Code | Online | Groups | SentId | Failed

_ERRORS: Final[dict[Failure, type[Exception]]] = {
    Failure.GONE: WireGone,
    Failure.DIAL: DialFailed,
    Failure.LIBRARY: LibraryMissing,
    Failure.PAIRING: PairingRefused,
    Failure.REFUSED: NotSent,
    Failure.UNKNOWN: OutcomeUnknown,
}


def without_numbers(words: str) -> str:
    """`words` for a log: what may be somebody's number in them is struck out."""
    return re.sub(r"\d{5,}", "…", words)


def error_of(failed: Failed) -> Exception:
    """The port's own failure that `failed` stands for."""
    if failed.failure is Failure.OFFLINE:
        return NotSent(failed.why, offline=True)
    return _ERRORS[failed.failure](failed.why)


def failed_of(error: Exception) -> Failed:
    """What to answer where `error` was raised; WireGone for one that is none of the port's.

    Nobody's number leaves the process in it, for what is answered is logged.
    """
    why = without_numbers(str(error))
    if isinstance(error, NotSent):
        return Failed(failure=Failure.OFFLINE if error.offline else Failure.REFUSED, why=why)
    for failure, kind in _ERRORS.items():
        if isinstance(error, kind):
            return Failed(failure=failure, why=why)
    return Failed(failure=Failure.GONE, why=f"{type(error).__name__}: {why}")
