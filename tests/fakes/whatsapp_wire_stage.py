"""A wire to WhatsApp with an account at its end, for suites that the fake and the real one have to pass.

Behind the real one are the supervisor, the pipe, a child and its session file; only the library is a stub.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from onechat_whatsapp.wire.events import CaughtUp, Connected, WireEvent
from onechat_whatsapp.wire.ports import WhatsAppWire

from tests.fakes.whatsapp_account import OWNER, WhatsAppAccount
from tests.fakes.whatsapp_wire import FakeWire
from tests.fakes.whatsapp_world import real_wire

WITHIN_S = 60.0
KINDS = ("fake", "real")


@dataclass
class Stage:
    """A wire, and the account at its end."""

    wire: WhatsAppWire
    account: WhatsAppAccount
    crash: Callable[[], None]
    _events: AsyncIterator[WireEvent]

    async def next(self, count: int = 1) -> list[WireEvent]:
        """The next `count` events."""
        async with asyncio.timeout(WITHIN_S):
            return [await anext(self._events) for _ in range(count)]

    async def started(self) -> None:
        """Start, and take what a start of a linked account brings."""
        await self.wire.start()
        assert await self.next(2) == [Connected(), CaughtUp(count=0)]


Staged = Callable[..., Awaitable[Stage]]


@asynccontextmanager
async def staging(kind: str, folder: Path) -> AsyncIterator[Staged]:
    """A way to build stages of `kind`, whose sessions lie in `folder`; they end with the block."""
    async with AsyncExitStack() as stack:

        async def build(account: WhatsAppAccount | None = None) -> Stage:
            account = account or WhatsAppAccount(OWNER)
            if kind == "fake":
                fake = FakeWire(account)
                return Stage(fake, account, fake.crash, fake.events())
            wire, world = await stack.enter_async_context(real_wire(folder, account))
            return Stage(wire, account, world.crash, wire.events())

        yield build
