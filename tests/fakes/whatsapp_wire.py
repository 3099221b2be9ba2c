"""The wire to WhatsApp without WhatsApp, library or child process: what `account` does is what comes.

    wire = FakeWire(WhatsAppAccount(OWNER))
    await wire.start()                      # Connected, CaughtUp
    wire.account.come(heard("hello"))
    wire.account.sent                       # all that left

It keeps what ports.py promises, as tests/contract/test_whatsapp_wires_alike.py holds. Messages to play:
whatsapp_scripts.py.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any

from onechat_whatsapp.domain.names import Contact
from onechat_whatsapp.wire.events import WireDown, WireEvent
from onechat_whatsapp.wire.ports import GroupRow, Me, NotSent, OutcomeUnknown, WireGone

from tests.fakes.whatsapp_account import WhatsAppAccount


class FakeWire:
    """Keeps WhatsAppWire's promises over an account in this process."""

    def __init__(self, account: WhatsAppAccount | None = None) -> None:
        self.account = account or WhatsAppAccount()
        self.account.emit = self._take
        self.up = False  #: whether there would be a process behind the wire
        self.stalled: asyncio.Event | None = None  #: while set, sends wait for it before anything leaves
        self.stalled_after: asyncio.Event | None = None  #: the same, once it has left
        self._ended = asyncio.Event()
        self._events: asyncio.Queue[WireEvent] = asyncio.Queue()

    async def start(self) -> None:
        await self.stop()
        self.up = True
        self._ended = asyncio.Event()
        await self.account.dial()

    async def stop(self) -> None:
        if self.up:
            await self.account.hang_up()
        self._end()

    async def kill(self) -> None:
        await self.stop()

    async def events(self) -> AsyncIterator[WireEvent]:
        while True:
            yield await self._events.get()

    async def pair(self, phone: str) -> str:
        self._must_be_up()
        return await self.account.pair(phone)

    async def logout(self) -> None:
        self._must_be_up()
        await self.account.logout()
        self._end()

    async def forget(self) -> None:
        await self.stop()
        self.account.me = None
        self.account.contacts.clear()
        self.account.lids.clear()

    async def is_linked(self) -> bool:
        return self.account.me is not None

    async def is_online(self) -> bool:
        return self.up and await self.account.is_online()

    async def me(self) -> Me | None:
        return self.account.me

    async def contacts(self) -> list[Contact]:
        return list(self.account.contacts) if self.account.me else []

    async def groups(self) -> list[GroupRow]:
        self._must_be_up()
        return await self.account.groups()

    async def number_of(self, lid: str) -> str:
        return next((number for number, other in self.account.lids.items() if other == lid), "")

    async def lid_of(self, number: str) -> str:
        return self.account.lids.get(number, "")

    async def send_text(self, chat: str, text: str) -> str:
        return await self._sent(self.account.send_text(chat, text))

    async def send_image(self, chat: str, data: bytes, mime: str, caption: str) -> str:
        return await self._sent(self.account.send_image(chat, data, mime, caption))

    def crash(self, why: str = "signal 6") -> None:
        """End the process that would be behind the wire, as a fault of the library does."""
        self.account.dialled = self.account.online = False
        self._end()
        self._take(WireDown(why=why))

    @property
    def pending(self) -> int:
        """How many events the reader has not taken yet."""
        return self._events.qsize()

    async def idle(self) -> None:
        """Return once all that came was taken by the reader and it waits for more."""
        async with asyncio.timeout(5):
            while not self._events.empty():
                await asyncio.sleep(0)
            await asyncio.sleep(0)

    def _take(self, event: WireEvent) -> None:
        self._events.put_nowait(event)

    def _end(self) -> None:
        self.up = False
        self._ended.set()

    def _must_be_up(self) -> None:
        if not self.up:
            raise WireGone("not started")

    async def _sent(self, sending: Coroutine[Any, Any, str]) -> str:
        """What `sending` gives, unless the process ends meanwhile."""
        if not self.up:
            sending.close()
            raise NotSent("not started", offline=True)
        ended = asyncio.ensure_future(self._ended.wait())
        waits = asyncio.ensure_future(self._held(sending))
        try:
            await asyncio.wait({waits, ended}, return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                raise OutcomeUnknown("the process behind the wire ended")
            return waits.result()
        finally:
            ended.cancel()
            waits.cancel()

    async def _held(self, sending: Coroutine[Any, Any, str]) -> str:
        if self.stalled:
            await self.stalled.wait()
        sent = await sending
        if self.stalled_after:
            await self.stalled_after.wait()
        return sent
