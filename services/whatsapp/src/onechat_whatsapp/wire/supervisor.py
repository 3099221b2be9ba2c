"""The real wire: a child process that holds the session, started when it is wanted, replaced when spent.

A child is one series of attempts to connect. It is new after every stop, fault or unfinished pairing (an
unpaired connection can't be ended otherwise), and after `DIALS_MAX` failed attempts, each of which leaks a
little in the library. One that hangs is ended within minutes. When to start again after `WireDown` is the
gateway's to decide.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from onechat_whatsapp.domain.names import Contact
from onechat_whatsapp.wire.calls import (
    Answer,
    AskGroups,
    AskOnline,
    Call,
    Code,
    Dial,
    Done,
    Failed,
    Groups,
    HangUp,
    Logout,
    Online,
    Pair,
    SendImage,
    SendText,
    SentId,
    error_of,
)
from onechat_whatsapp.wire.events import GroupRenamed, Heard, Undecryptable, WireDown, WireEvent
from onechat_whatsapp.wire.ports import (
    DialFailed,
    GroupRow,
    LibraryMissing,
    Me,
    NotSent,
    OutcomeUnknown,
    WireGone,
)
from onechat_whatsapp.wire.process import NeverAsked, WireProcess, own_environment
from onechat_whatsapp.wire.session_file import SessionFile

DIALS_MAX: Final = 200
SILENT_MOST: Final = 2  # looks in a row; after a sleep of the machine one may fail though all is well
A = TypeVar("A", bound=Answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long an answer of the child is waited for, in seconds. The child itself gives up sooner."""

    dial_s: float = 60.0  #: with the library's own start, which takes seconds
    hang_up_s: float = 3.0  #: with the next, within what a deployment leaves the gateway for its end
    end_s: float = 1.0  #: after that, by SIGKILL
    pair_s: float = 45.0
    logout_s: float = 20.0
    online_s: float = 5.0
    groups_s: float = 30.0
    send_s: float = 100.0
    look_s: float = 60.0  #: between two looks at whether it answers at all
    silent_s: float = 30.0  #: without an answer to a look


class WhatsAppSupervisor:
    """Keeps WhatsAppWire's promises with a child process."""

    def __init__(
        self,
        session: Path,
        *,
        command: Sequence[str] = (sys.executable, "-m", "onechat_whatsapp.wire_child"),
        environment: Mapping[str, str] | None = None,
        patience: Patience | None = None,
        dials_max: int = DIALS_MAX,
    ) -> None:
        """`session`: the file, in a folder that is there. `command` gets it as its last argument."""
        self._session = SessionFile(session)
        self._command = (*command, str(session))
        self._environment = environment if environment is not None else own_environment()
        self._patience = patience or Patience()
        self._dials_max = dials_max
        self._child: WireProcess | None = None
        self._watching: asyncio.Task[None] | None = None
        self._dials = 0
        self._dialled = False
        self._down_said = False
        self._events: asyncio.Queue[WireEvent] = asyncio.Queue()

    async def start(self) -> None:
        """See WhatsAppWire."""
        if self._dialled or self._dials >= self._dials_max:
            await self.stop()
        child = await self._running()
        self._dials += 1
        self._down_said = False
        try:
            await self._asked(child, Dial(), Done, self._patience.dial_s)
        except DialFailed:
            raise  # the child can try again
        except (LibraryMissing, WireGone):
            await self.kill()
            raise
        except asyncio.CancelledError:
            await self.kill()
            raise
        self._dialled = True
        self._watching = asyncio.create_task(self._watch(child))

    async def stop(self) -> None:
        """See WhatsAppWire."""
        child = self._let_go()
        if child is None:
            return
        try:
            await self._asked(child, HangUp(), Done, self._patience.hang_up_s)
            await child.end(self._patience.end_s)
        except WireGone:
            await child.kill()
        except asyncio.CancelledError:
            await child.kill()
            raise

    async def kill(self) -> None:
        """See WhatsAppWire."""
        if child := self._let_go():
            await child.kill()

    async def events(self) -> AsyncIterator[WireEvent]:
        """See WhatsAppWire."""
        while True:
            yield await self._events.get()

    async def pair(self, phone: str) -> str:
        """See WhatsAppWire."""
        return (await self._asked(self._up(), Pair(phone=phone), Code, self._patience.pair_s)).code

    async def logout(self) -> None:
        """See WhatsAppWire."""
        await self._asked(self._up(), Logout(), Done, self._patience.logout_s)
        await self.forget()

    async def forget(self) -> None:
        """See WhatsAppWire."""
        await self.kill()
        self._session.delete()

    async def is_linked(self) -> bool:
        """See WhatsAppWire."""
        return await asyncio.to_thread(self._session.is_linked)

    async def is_online(self) -> bool:
        """See WhatsAppWire."""
        try:
            return (await self._asked(self._up(), AskOnline(), Online, self._patience.online_s)).online
        except WireGone:
            return False

    async def me(self) -> Me | None:
        """See WhatsAppWire."""
        return await asyncio.to_thread(self._session.me)

    async def contacts(self) -> list[Contact]:
        """See WhatsAppWire."""
        return await asyncio.to_thread(self._session.contacts)

    async def groups(self) -> list[GroupRow]:
        """See WhatsAppWire."""
        return list((await self._asked(self._up(), AskGroups(), Groups, self._patience.groups_s)).groups)

    async def number_of(self, lid: str) -> str:
        """See WhatsAppWire."""
        return await asyncio.to_thread(self._session.number_of, lid)

    async def lid_of(self, number: str) -> str:
        """See WhatsAppWire."""
        return await asyncio.to_thread(self._session.lid_of, number)

    async def send_text(self, chat: str, text: str) -> str:
        """See WhatsAppWire."""
        return await self._sent(SendText(chat=chat, text=text))

    async def send_image(self, chat: str, data: bytes, mime: str, caption: str) -> str:
        """See WhatsAppWire."""
        return await self._sent(SendImage(chat=chat, data=data, mime=mime, caption=caption))

    async def _sent(self, call: SendText | SendImage) -> str:
        try:
            return (await self._asked(self._up(), call, SentId, self._patience.send_s)).id
        except NeverAsked as error:
            raise NotSent(str(error), offline=True) from error
        except WireGone as error:
            raise OutcomeUnknown(str(error)) from error

    async def _asked(self, child: WireProcess, call: Call, wanted: type[A], within_s: float) -> A:
        answer = await child.call(call, within_s)
        if isinstance(answer, Failed):
            raise error_of(answer)
        if not isinstance(answer, wanted):
            raise WireGone(f"an answer of another kind: {type(answer).__name__}")
        return answer

    async def _running(self) -> WireProcess:
        if self._child is None or not self._child.runs:
            self._let_go()
            self._child = await WireProcess.begin(self._command, self._environment, self._take)
        return self._child

    def _up(self) -> WireProcess:
        if self._child is None:
            raise NeverAsked("not started")
        return self._child

    def _let_go(self) -> WireProcess | None:
        """The child, which from now on may end without a word."""
        child, self._child = self._child, None
        if self._watching:
            self._watching.cancel()
        self._watching, self._dialled, self._dials = None, False, 0
        return child

    def _take(self, event: WireEvent) -> None:
        if self._child is None and not isinstance(event, Heard | Undecryptable | GroupRenamed):
            return  # of a connection that is being ended
        self._down_said = isinstance(event, WireDown)
        self._events.put_nowait(event)

    async def _watch(self, child: WireProcess) -> None:
        """Say that `child` has ended; end it when it hangs, for of that nobody else would tell."""
        silent = 0
        while not child.ended.done() and silent < SILENT_MOST:
            await asyncio.wait({child.ended}, timeout=self._patience.look_s)
            silent = 0 if await self._answers(child) else silent + 1
        hung = not child.ended.done()
        if hung:
            await child.kill()
        why = await asyncio.shield(child.ended)
        if not self._down_said:
            self._take(WireDown(why=f"it did not answer any more: {why}" if hung else why))

    async def _answers(self, child: WireProcess) -> bool:
        try:
            await child.call(AskOnline(), self._patience.silent_s)
        except WireGone:
            return False
        return True
