"""The connection: kept up while there is a session, taken over from a pairing, ended by an unlinking.

The library takes a broken connection up by itself, at distances that grow without end; where that takes too
long, a new start does. The first start that fails is made again 2 seconds later, then at doubled distances up
to 5 minutes. Where WhatsApp has ended it (domain/link.py), none is made. Seconds.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import StoreFull
from onechat_runtime.store import Store

from onechat_whatsapp.adapters import link_rows, silence_rows
from onechat_whatsapp.domain import link as links
from onechat_whatsapp.domain import notices as words
from onechat_whatsapp.link import Link
from onechat_whatsapp.waiting import within
from onechat_whatsapp.wire.ports import DialFailed, LibraryMissing, WhatsAppWire, WireGone

LOGIN_S: Final = 60.0  # from a connection that stands to the account logged in
LIBRARY_TRIES_S: Final = 300.0  # how long a broken connection is left to the library
STEADY_S: Final = 60.0  # a connection that held as long was no failed attempt
LOGOUT_S: Final = 15.0  # whoever asks to unlink waits no longer than 25 s

log = logs.get("onechat_whatsapp.connecting")


class Connecting:
    """Uses the session of one wire."""

    def __init__(
        self,
        wire: WhatsAppWire,
        link: Link,
        store: Store,
        clock: Clock,
        *,
        unlinked: Callable[[], None] = lambda: None,
    ) -> None:
        """`unlinked` is called once a link was ended here, for nothing then comes that would say so."""
        self._wire = wire
        self._link = link
        self._store = store
        self._clock = clock
        self._unlinked = unlinked
        self._one_unlink = asyncio.Lock()
        self._use: asyncio.Task[None] | None = None
        self._started = False  # a pairing that worked has started it
        self._unlinking = False
        self.wire_free = asyncio.Lock()  #: held by whoever starts or ends what is behind the wire

    async def run(self) -> None:
        """Keep the connection up until cancelled; then end it."""
        try:
            while True:
                await self._link.moves.until(lambda: self._link.now.usable and not self._unlinking)
                await self._use_until_ended()
        finally:
            await self._wire.stop()
            with suppress(StoreFull):
                await self._link.change(links.lost)

    async def take_up(self, *, started: bool) -> None:
        """A pairing has worked: there is a link from now on, and the user is told. Raises StoreFull.

        `started`: what the pairing has started goes on.
        """
        self._started = started
        self._link.attempt_begins()
        await self._link.change(links.linked, [words.linked(self._clock.now())], silence_rows.forget)

    async def unlink(self, also: Callable[[apsw.Connection, bool], None]) -> bool:
        """End the link, if there is one; whether WhatsApp knows that there is none.

        When not, it could not be told, and the user removes the device on the phone. `also` is given the
        answer, in the transaction that keeps it. Raises StoreFull, mostly before anything is ended.
        """
        async with self._one_unlink:
            if not self._link.now.linked:
                await self._store.write(lambda db: also(db, True))
                return True
            await self._store.write(lambda db: link_rows.keep(db, self._link.now))  # is there room?
            self._unlinking = True
            try:
                if self._use is not None:
                    self._use.cancel()
                async with self.wire_free:
                    told = await self._log_out()
                    await self._link.change(links.gone, also=lambda db: also(db, told))
                self._unlinked()
            finally:
                self._unlinking = False
                self._link.moves.moved()
            return told

    async def _log_out(self) -> bool:
        if self._link.connected:
            try:
                await within(self._clock, LOGOUT_S, self._wire.logout())
            except (WireGone, TimeoutError) as error:
                log.warning("logout_failed", why=str(error))
            else:
                return True
        await self._wire.forget()
        return False

    async def _use_until_ended(self) -> None:
        use = self._use = asyncio.create_task(self._use_session())
        try:
            await asyncio.wait({use})
        finally:
            use.cancel()
            await asyncio.gather(use, return_exceptions=True)
        if not use.cancelled():  # else it is being unlinked
            use.result()

    async def _use_session(self) -> None:
        """Connect again and again while the session is usable."""
        link = self._link
        async with self.wire_free:
            failures = 0
            while link.now.usable:
                failures = 1 if await self._connection() else failures + 1
                await link.moves.until(
                    lambda: link.connected or not link.now.usable, links.delay_after(failures)
                )
            if link.now.linked:
                await self._wire.stop()
            else:
                await self._wire.forget()  # WhatsApp has ended it: what is left of the session is of no use

    async def _connection(self) -> bool:
        """One connection from its start to its end; whether it held for a while."""
        link = self._link
        if not (link.connected or self._started) and not await self._dialled():
            return False
        self._started = False
        longest_s, wait_s = 0.0, LOGIN_S
        while await link.moves.until(lambda: link.connected or link.over, wait_s) and not link.over:
            since = self._clock.monotonic()
            await link.moves.until(lambda: not link.connected or link.over)
            longest_s = max(longest_s, self._clock.monotonic() - since)
            wait_s = LIBRARY_TRIES_S
        return longest_s >= STEADY_S

    async def _dialled(self) -> bool:
        self._link.attempt_begins()
        try:
            await self._wire.start()
        except LibraryMissing as error:
            log.warning("library_missing", why=str(error))
            self._link.attempt_failed(str(error))
        except (DialFailed, WireGone) as error:
            log.warning("dial_failed", why=str(error))
            self._link.attempt_failed()
        else:
            return True
        return False
