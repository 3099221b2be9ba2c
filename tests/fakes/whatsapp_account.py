"""WhatsApp and the library, as far as a wire sees them: an account, the phone that holds it, what is sent.

It keeps what comes while there is no connection and gives it at the next one, between `Connected` and
`CaughtUp`, as WhatsApp does. Whatever leaves is in `sent`. In-process behind the fake wire
(whatsapp_wire.py), and in a child process of its own behind the real one (whatsapp_child.py).
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from onechat_whatsapp.domain.names import Contact
from onechat_whatsapp.wire.events import (
    Banned,
    CaughtUp,
    Connected,
    Disconnected,
    LoggedOut,
    Outdated,
    PairingStatus,
    Replaced,
    WireEvent,
)
from onechat_whatsapp.wire.ports import (
    DialFailed,
    GroupRow,
    LibraryMissing,
    Me,
    NotSent,
    PairingRefused,
    WireGone,
)

CODE = "ABCD-EFGH"
OWNER = Me(number="15550001111@s.whatsapp.net", lid="99887766554433@lid", push_name="Ann")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A message that left."""

    id: str
    chat: str
    text: str  #: the caption, of an image
    image: bytes = b""
    mime: str = ""


class WhatsAppAccount:
    """One account. Its own methods up to `send_image` are what the library does when it is asked; those below
    are what the world does, and are for tests."""

    def __init__(self, me: Me | None = None) -> None:
        self.emit: Callable[[WireEvent], None] = lambda event: None
        self.me = me
        self.contacts: list[Contact] = []
        self.groups_joined: list[GroupRow] = []
        self.lids: dict[str, str] = {}  #: an id by number → by LID
        self.sent: list[Sent] = []
        self.dials = 0  #: how often a connection was tried
        self.group_calls = 0  #: how often the groups were asked for
        self.phones: list[str] = []  #: the numbers that a code was asked for
        self.dialled = self.online = False
        self.library_missing = ""  #: a sentence: then nothing can be dialled
        #: Why the next dials fail; a sentence is a DialFailed's.
        self.dial_faults: deque[str | Exception] = deque()
        self.pairing_fault = ""  #: why no code is given
        self.send_faults: deque[Exception | None] = deque()  #: what becomes of the next sends; None: sent
        self.stall: asyncio.Event | None = (
            None  #: while it is there and not set, sends wait before they leave
        )
        self.stalled = asyncio.Event()  #: set once one waits
        self.lands = True  #: of a send that fails with OutcomeUnknown: whether it went out all the same
        self.kept: list[WireEvent] = []

    async def dial(self) -> None:
        self.dials += 1
        if self.library_missing:
            raise LibraryMissing(self.library_missing)
        if self.dial_faults:
            fault = self.dial_faults.popleft()
            raise fault if isinstance(fault, Exception) else DialFailed(fault)
        self.dialled = True
        if self.me:
            self._log_in()

    async def hang_up(self) -> None:
        self.dialled = self.online = False

    async def pair(self, phone: str) -> str:
        if not self.dialled:
            raise WireGone("not connected")
        self.phones.append(phone)
        if self.pairing_fault:
            raise PairingRefused(self.pairing_fault)
        return CODE

    async def logout(self) -> None:
        if not self.online:
            raise WireGone("not connected")
        self.me = None
        await self.hang_up()

    async def is_online(self) -> bool:
        return self.online

    async def groups(self) -> list[GroupRow]:
        self.group_calls += 1
        if not self.online:
            raise WireGone("not connected")
        return list(self.groups_joined)

    async def send_text(self, chat: str, text: str) -> str:
        return await self._send(Sent(id="", chat=chat, text=text))

    async def send_image(self, chat: str, data: bytes, mime: str, caption: str) -> str:
        return await self._send(Sent(id="", chat=chat, text=caption, image=data, mime=mime))

    def come(self, *events: WireEvent) -> None:
        """Let `events` come: at once while there is a connection, at the next one else."""
        for event in events:
            if self.online:
                self.emit(event)
            else:
                self.kept.append(event)

    def drop(self) -> None:
        """Break the connection; the library tries to take it up again, `take_up` lets it."""
        self.online = False
        self.emit(Disconnected())

    def take_up(self) -> None:
        """Let the library's own reconnect succeed."""
        self._log_in()

    def type_code(self, me: Me = OWNER) -> None:
        """The user types the code in on the phone of `me`."""
        self.me = me
        self.emit(PairingStatus(status="success"))
        self._log_in()

    def end_pairing(self, status: str) -> None:
        """A pairing comes to nothing: "timeout", "passkey-request", "err-client-outdated", …"""
        self.emit(PairingStatus(status=status))

    def log_out(self, reason: str = "LOGGED_OUT") -> None:
        """The user removes the device on the phone."""
        self.me, self.online = None, False
        self.emit(LoggedOut(reason=reason))

    def replace(self) -> None:
        """Another process takes the session."""
        self.online = False
        self.emit(Replaced())

    def ban(self, code: str = "101", expire_s: int = 3600) -> None:
        """WhatsApp shuts the account out for a time."""
        self.online = False
        self.emit(Banned(code=code, expire_s=expire_s))

    def outdate(self) -> None:
        """WhatsApp wants a newer library."""
        self.online = False
        self.emit(Outdated())

    def _log_in(self) -> None:
        self.online = True
        kept, self.kept = self.kept, []
        for event in (Connected(), *kept, CaughtUp(count=len(kept))):
            self.emit(event)

    async def _send(self, sent: Sent) -> str:
        if not self.online:
            raise NotSent("not connected", offline=True)
        if self.stall:
            self.stalled.set()
            await self.stall.wait()
        sent = replace(sent, id=f"3EB0{len(self.sent) + 1:08X}")
        fault = self.send_faults.popleft() if self.send_faults else None
        if fault is None or (self.lands and not isinstance(fault, NotSent)):
            self.sent.append(sent)
        if fault is not None:
            raise fault
        return sent.id
