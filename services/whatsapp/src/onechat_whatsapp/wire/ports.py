"""What the gateway may ask of WhatsApp: one narrow port, and the ways in which it fails.

There is nothing in it for receipts, typing or presence, so none can leave. The real one: supervisor.py, with
a child process behind it. The one that plays scripts: tests/fakes/whatsapp_wire.py. One suite holds both to
this: tests/contract/test_whatsapp_wires_alike.py. What comes by itself, and what an id is: events.py.

What reads the session (`is_linked`, `me`, `contacts`, `number_of`, `lid_of`) works without a connection and
without a child process; without a session there is nothing to tell. All of them raise SessionUnreadable.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from onechat_whatsapp.domain.names import Contact
from onechat_whatsapp.wire.events import WireEvent


class WireGone(Exception):
    """The process behind the wire is not there, ended meanwhile, or gives no answer. `start` begins anew."""


class SessionUnreadable(Exception):
    """The session is there, but cannot be read now: another holds its file, or it is another user's."""


class DialFailed(Exception):
    """The connection could not be made; its text says why, for a log. The session is as it was."""


class LibraryMissing(Exception):
    """The library that speaks to WhatsApp cannot be loaded here. Its text is for a person: what is missing
    and what to do."""


class PairingRefused(Exception):
    """There is no code; its text is the library's reason, such as "phone number too short"."""


class NotSent(Exception):
    """Surely nothing was sent; the text says why, for a log.

    `offline`: for want of a connection. Else WhatsApp, or the library, refused this message or this chat.
    """

    def __init__(self, why: str, *, offline: bool = False) -> None:
        super().__init__(why)
        self.offline = offline


class OutcomeUnknown(Exception):
    """It may have been sent or not; the text says why, for a log. It must not be sent again unasked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Me:
    """The account that is linked."""

    number: str  #: "15550001111@s.whatsapp.net"
    lid: str  #: "99887766554433@lid"; "" while WhatsApp has given none
    push_name: str  #: what the user calls themselves; may be ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """A group that the user is in."""

    id: str  #: "…@g.us"
    name: str


class WhatsAppWire(Protocol):
    """One linked device, or one that is to be linked. One caller at a time for start, stop, kill, logout and
    forget; all else from anywhere."""

    async def start(self) -> None:
        """Connect, with the session if there is one, else so that `pair` can follow.

        Returns once the connection stands; that the account is logged in, or why not, comes as an event.
        Started already, it ends that connection first. Takes up to 60 s.
        Raises DialFailed, LibraryMissing, WireGone.
        """

    async def stop(self) -> None:
        """End the connection and the process behind it, within 10 s. The session stays. What came before the
        end is still given by `events`."""

    async def kill(self) -> None:
        """End the process behind the wire at once, without a word to WhatsApp: the way out of a pairing."""

    def events(self) -> AsyncIterator[WireEvent]:
        """What comes, in order, over every start and stop; it never ends. One reader: what one has taken no
        other gets."""

    async def pair(self, phone: str) -> str:
        """A code such as "ABCD-EFGH" to type in on the phone, for 160 s from now, after a `start` without a
        session. `phone`: digits in international form. What becomes of it comes as PairingStatus.
        Takes up to 45 s. Raises PairingRefused, WireGone."""

    async def logout(self) -> None:
        """End the link on WhatsApp's side and delete the session. Raises WireGone when there is no connection
        to say it over, or no answer; then the session is as it was. Takes up to 20 s."""

    async def forget(self) -> None:
        """End the process behind the wire and delete the session's files here. WhatsApp is not told."""

    async def is_linked(self) -> bool:
        """Whether the session holds a device."""

    async def is_online(self) -> bool:
        """Whether the connection stands and the account is logged in. Never raises."""

    async def me(self) -> Me | None:
        """Who is linked; None when nobody is."""

    async def contacts(self) -> list[Contact]:
        """All that the session knows, in no order."""

    async def groups(self) -> list[GroupRow]:
        """The groups that the user is in, asked of WhatsApp: keep the answer. Raises WireGone, also when
        there is no connection. Takes up to 30 s."""

    async def number_of(self, lid: str) -> str:
        """The id by number of a person by LID; "" where the session does not know it."""

    async def lid_of(self, number: str) -> str:
        """The LID of a person by number; "" where the session does not know it."""

    async def send_text(self, chat: str, text: str) -> str:
        """Send `text` as it is to a person or group; WhatsApp's id of the message. It does not come back by
        `events`. Takes up to 100 s; given up meanwhile (cancelled), the outcome is not known.
        Raises NotSent, OutcomeUnknown."""

    async def send_image(self, chat: str, data: bytes, mime: str, caption: str) -> str:
        """Send an image, up to 16 MiB, with `caption`, which may be "". Else as `send_text`."""
