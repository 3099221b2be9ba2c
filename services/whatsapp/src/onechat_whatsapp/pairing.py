"""Linking an account: a code is asked for and shown, then typed in on the phone, or not. One at a time.

The phone number goes to WhatsApp and nowhere else: it is neither kept nor logged. A failure after the code
was shown is told in a notice. What each failure is called: domain/pairing.py. Seconds.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import ServiceError
from onechat_runtime.store import Store

from onechat_whatsapp import errors
from onechat_whatsapp.connecting import Connecting
from onechat_whatsapp.domain import notices as words
from onechat_whatsapp.domain.pairing import (
    CODE_S,
    SENTENCES,
    Failure,
    failure_in,
    failure_of,
    is_unusable_session,
)
from onechat_whatsapp.domain.phone import NoPhoneNumber, PhoneNumber, number_in
from onechat_whatsapp.link import Link
from onechat_whatsapp.notices import Notices
from onechat_whatsapp.waiting import Moves, once_there_is_room, within
from onechat_whatsapp.wire.events import Banned, Connected, Outdated, PairingStatus, WireDown, WireEvent
from onechat_whatsapp.wire.ports import DialFailed, LibraryMissing, PairingRefused, WhatsAppWire, WireGone

ASK_S: Final = 22.0  # whoever asks for a code waits no longer than 25 s
LATE_S: Final = 15.0  # past the code's end, for WhatsApp to say so itself
NO_CONNECTION: Final = (
    "WhatsApp cannot be reached, so there is no pairing code. Look at the network, then run /whatsapp pair "
    "PHONE again."
)

log = logs.get("onechat_whatsapp.pairing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """What the user types in on the phone."""

    code: str  #: such as "ABCD-EFGH"
    expires: datetime  #: aware, UTC


class _Failed(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)
        self.failure = failure


class Pairing:
    """Links an account over one wire."""

    def __init__(
        self,
        wire: WhatsAppWire,
        link: Link,
        connecting: Connecting,
        store: Store,
        notices: Notices,
        clock: Clock,
    ) -> None:
        self._wire = wire
        self._link = link
        self._connecting = connecting
        self._store = store
        self._notices = notices
        self._clock = clock
        self._moves = Moves(clock)
        self._began: datetime | None = None  # there is a pairing since then
        self._failure: Failure | None = None  # of the pairing that has no code yet
        self._given = False  # the code was shown
        self._one = asyncio.Lock()

    async def pair(self, phone: str) -> Code:
        """A code for `phone`, as a person writes it. Raises ServiceError; then there is no pairing."""
        try:
            number = number_in(phone)
        except NoPhoneNumber:
            raise errors.PhoneInvalid from None
        await self._want_no_session()
        if self._began is not None:
            raise errors.PairingRuns
        self._began, self._failure = self._clock.now(), None
        try:
            async with self._connecting.wire_free:
                code = await within(self._clock, ASK_S, self._ask(number))
            if self._failure is not None:
                raise _Failed(self._failure)
        except BaseException as error:
            await self._end()
            if isinstance(error, Exception):
                raise _refusal(error) from None
            raise
        expires = self._clock.now() + timedelta(seconds=CODE_S)
        self._given = self._began is not None  # else it has worked already
        self._moves.moved()
        log.info("pairing_code_given")
        return Code(code=code, expires=expires)

    async def give_up(self) -> None:
        """End the pairing that is under way, if one is: its code is of no use any more, and is not told of.

        Returns once that is so; a code that was typed in at that moment has linked the account. Raises
        StoreFull.
        """
        await self._fail(Failure.GIVEN_UP)
        await self._moves.until(lambda: self._began is None)

    async def run(self) -> None:
        """End what WhatsApp does not end: a code that nobody types in. Until cancelled."""
        while True:
            await self._moves.until(lambda: self._given)
            if not await self._moves.until(lambda: not self._given, CODE_S + LATE_S):
                await once_there_is_room(self._clock, lambda: self._fail(Failure.NOT_TYPED))

    async def hear(self, event: WireEvent) -> None:
        """Take what `event` says of the pairing that is under way. Raises StoreFull."""
        if self._began is None:
            return
        match event:
            case PairingStatus(status="success"):
                await self._worked()
            case Connected() if await self._wire.is_linked():  # told of before the success was
                await self._worked()
            case PairingStatus(status=status):
                log.info("pairing_status", status=status)
                if (failure := failure_of(status)) is not None:
                    await self._fail(failure)
            case Outdated():
                await self._fail(Failure.OUTDATED)
            case Banned():
                await self._fail(Failure.BANNED)
            case WireDown(why=why):
                log.warning("pairing_broke", why=why)
                await self._fail(Failure.BROKEN)
            case _:
                pass

    async def _want_no_session(self) -> None:
        if self._link.now.linked:
            raise errors.LinkedAlready
        if self._began is None and await self._wire.is_linked():  # it was put back by hand
            await self._connecting.take_up(started=False)
            raise errors.LinkedAlready

    async def _ask(self, number: PhoneNumber) -> str:
        try:
            await self._wire.start()
        except DialFailed as error:
            if not is_unusable_session(str(error)):
                raise
            log.warning("session_unusable", why=str(error))
            await self._wire.forget()  # nothing is linked by it, and it would be in the way for ever
            await self._wire.start()
        asking = asyncio.ensure_future(self._wire.pair(number))
        failing = asyncio.ensure_future(self._moves.until(lambda: self._failure is not None))
        try:
            await asyncio.wait({asking, failing}, return_when=asyncio.FIRST_COMPLETED)
            if self._failure is not None:
                raise _Failed(self._failure)
            return asking.result()
        finally:
            for task in (asking, failing):
                task.cancel()
            await asyncio.gather(asking, failing, return_exceptions=True)

    async def _worked(self) -> None:
        async with self._one:
            if self._began is not None:
                log.info("paired")
                await self._connecting.take_up(started=True)
                self._forget()

    async def _fail(self, failure: Failure) -> None:
        async with self._one:
            began = self._began
            if began is None:
                return
            if not self._given:
                self._failure = failure
                self._moves.moved()
                return
            # An unpaired connection ends in no other way; and whoever has the code could still type it in.
            await self._wire.kill()
            if await self._wire.is_linked():  # typed in as it ended
                await self._connecting.take_up(started=False)
            elif failure is not Failure.GIVEN_UP:  # whoever gave it up knows
                notice = words.not_paired(SENTENCES[failure], began)
                await self._store.write(lambda db: self._notices.put(db, notice))
            self._forget()

    async def _end(self) -> None:
        try:
            await self._wire.kill()
        finally:
            self._forget()

    def _forget(self) -> None:
        self._began, self._given = None, False
        self._moves.moved()


def _refusal(error: Exception) -> Exception:
    """What whoever asked for a code is told of `error`."""
    match error:
        case _Failed(failure=failure):
            return _refused(failure)
        case PairingRefused():
            log.warning("pairing_refused", failure=failure_in(str(error)))
            return _refused(failure_in(str(error)))
        case LibraryMissing():
            return errors.LibraryMissing(str(error))
        case DialFailed() | WireGone() | TimeoutError():
            log.warning("pairing_not_begun", why=str(error))
            return errors.NotConnected(NO_CONNECTION)
    return error


def _refused(failure: Failure) -> ServiceError:
    match failure:
        case Failure.PASSKEY:
            return errors.PasskeyWanted(SENTENCES[failure])
        case Failure.PHONE:
            return errors.PhoneInvalid()
        case _:
            return errors.NotConnected(SENTENCES[failure])
