"""neonize 0.5.2 as a Library. No other module loads it; translation.py reads its events.

What it does that its own API would not say (all of it held by the tests of the real library): a client that
was never connected, or was stopped, must be asked nothing, since that aborts the process; the words of a
pairing come by a private method; a connect that is not paired can't be ended, so the process ends instead.
"""

import os

os.environ["NEONIZE_BOT_TAG"] = "off"  # before the import: else private messages carry a bot's mark

import asyncio
import ctypes
import logging
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import neonize.aioze.events as neonize_events
import neonize.events as neonize_event_types
from neonize.aioze.client import NewAClient
from neonize.exc import NeonizeError
from neonize.proto.Neonize_pb2 import JID
from neonize.proto.waCompanionReg.WAWebProtobufsCompanionReg_pb2 import DeviceProps
from neonize.proto.waE2E.WAWebProtobufsE2E_pb2 import ImageMessage, Message
from neonize.utils.enum import ClientName, ClientType, MediaType

from onechat_whatsapp.domain.chat_ids import GROUPS, LIDS, NUMBERS
from onechat_whatsapp.wire.events import PairingStatus, WireDown, WireEvent
from onechat_whatsapp.wire.ports import (
    DialFailed,
    GroupRow,
    NotSent,
    OutcomeUnknown,
    PairingRefused,
    WireGone,
)
from onechat_whatsapp.wire_child.disappearing import Disappearing
from onechat_whatsapp.wire_child.send_failures import failure_of, upload_failure_of
from onechat_whatsapp.wire_child.session_lock import SessionLock
from onechat_whatsapp.wire_child.translation import WANTED, as_text, group_of, translated

DIAL_S: Final = 45.0  # for a first word from WhatsApp
PAIR_S: Final = 30.0  # for WhatsApp to be ready for a pairing
SEND_S: Final = 90.0  # the library itself gives up after 75, but may hang after a lost connection
STOP_S: Final = 2.0
HUNG_MAX: Final = 8  # then a new process is due
THREADS: Final = 64  # the library keeps one for a connection, and one for each send that hangs
NAME: Final = "onechat"  # in the phone's list of linked devices


class Client(NewAClient):  # type: ignore[misc]
    """The library's client, with the words of a pairing, which it keeps to itself."""

    on_login: Callable[[str], None]

    def _NewAClient__onLoginStatus(self, _uuid: int, words: int) -> None:  # noqa: N802 - the library's name
        self.on_login(ctypes.string_at(words).decode(errors="replace"))


class NeonizeLibrary:
    """One session file, one client at a time."""

    def __init__(
        self,
        session: Path,
        emit: Callable[[WireEvent], None],
        *,
        environment: Mapping[str, str] = os.environ,
        client: Callable[..., Any] = Client,
        send_s: float = SEND_S,
    ) -> None:
        """`environment` may name a proxy, HTTPS_PROXY; `client` makes the library's client; `send_s` is how
        long a send may take."""
        self._session = session
        self._make_client = client
        self._send_s = send_s
        self._hung = 0  #: sends that hold a thread for ever
        self._lock = SessionLock(session)
        self._disappearing = Disappearing()
        self._emit = emit
        self._proxy = environment.get("HTTPS_PROXY", "")
        self._loop = asyncio.get_running_loop()
        self._loop.set_default_executor(ThreadPoolExecutor(THREADS))
        self._client: Any = None  #: set only while it may be asked
        self._task: asyncio.Task[None] | None = None
        self._leaving = False  #: the end that comes was asked for
        self._first = asyncio.Event()  #: WhatsApp has said something
        self._pairable = asyncio.Event()
        for name in ("whatsmeow", "neonize"):  # they write numbers
            logging.getLogger(name).setLevel(logging.CRITICAL)

    async def dial(self) -> None:
        """See Library."""
        await self._lock.hold()
        if "?" in str(self._session):
            raise DialFailed("the data folder's path holds a question mark, which the library can't take")
        self._first.clear()
        self._pairable.clear()
        client = self._new_client()
        neonize_events.event_global_loop = self._loop
        task = await client.connect(self._proxy_settings())
        first = asyncio.ensure_future(self._first.wait())
        try:
            await asyncio.wait({task, first}, timeout=DIAL_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            first.cancel()
        if task.done():
            raise DialFailed(_why(task))
        if not self._first.is_set():
            raise WireGone(f"WhatsApp said nothing within {DIAL_S:g} s")
        self._client, self._task = client, task
        task.add_done_callback(self._gave_up)

    async def hang_up(self) -> None:
        """See Library."""
        client, task = self._client, self._task
        self._client = self._task = None
        if client is None or task is None:
            return
        task.remove_done_callback(self._gave_up)
        try:
            async with asyncio.timeout(STOP_S):
                await client.stop()
                await asyncio.shield(task)
        except (TimeoutError, NeonizeError):
            return  # the process ends, and it with it

    async def pair(self, phone: str) -> str:
        """See Library."""
        client = self._asked()
        try:
            async with asyncio.timeout(PAIR_S):
                await self._pairable.wait()
        except TimeoutError as error:
            raise WireGone("WhatsApp was not ready for a pairing") from error
        try:
            return str(await client.PairPhone(phone, True, ClientName.LINUX, ClientType.CHROME))
        except NeonizeError as error:
            raise PairingRefused(str(error)) from error

    async def logout(self) -> None:
        """See Library."""
        client = self._asked()
        self._leaving = True
        try:
            await client.logout()
        except NeonizeError as error:
            self._leaving = False
            raise WireGone(str(error)) from error

    async def is_online(self) -> bool:
        """See Library."""
        client = self._client
        return client is not None and bool(await client.is_connected and await client.is_logged_in)

    async def groups(self) -> list[GroupRow]:
        """See Library."""
        client = self._asked()
        if not await self.is_online():
            raise WireGone("not connected")
        try:
            joined = await client.get_joined_groups()
        except NeonizeError as error:
            raise WireGone(str(error)) from error
        return [GroupRow(id=group_of(row), name=as_text(row.GroupName.Name)) for row in joined]

    async def send_text(self, chat: str, text: str) -> str:
        """See Library."""
        client, to = await self._ready_to_send(chat)
        return await self._sent(client, to, Message(conversation=text))

    async def send_image(self, chat: str, data: bytes, mime: str, caption: str) -> str:
        """See Library."""
        client, to = await self._ready_to_send(chat)
        try:
            async with asyncio.timeout(self._send_s / 2):
                up = await client.upload(data, MediaType.MediaImage)
        except TimeoutError as error:
            raise NotSent("the image could not be uploaded in time") from error
        except NeonizeError as error:
            raise upload_failure_of(str(error)) from error
        image = ImageMessage(
            URL=up.url,
            directPath=up.DirectPath,
            mediaKey=up.MediaKey,
            fileEncSHA256=up.FileEncSHA256,
            fileSHA256=up.FileSHA256,
            fileLength=up.FileLength,
            mimetype=mime,
            caption=caption or None,
        )
        return await self._sent(client, to, Message(imageMessage=image))

    async def _ready_to_send(self, chat: str) -> tuple[Any, Any]:
        to = jid_of(chat)
        client = self._client
        if client is None or not await self.is_online():
            raise NotSent("not connected", offline=True)
        return client, to

    async def _sent(self, client: Any, to: Any, message: Any) -> str:
        try:
            async with asyncio.timeout(self._send_s):
                return str((await client.send_message(to, message)).ID)
        except TimeoutError as error:
            self._hung += 1
            if self._hung == HUNG_MAX:
                self._leaving, self._client = True, None
                self._emit(WireDown(why=f"{HUNG_MAX} sends hang in the library"))
            raise OutcomeUnknown("the library gave no answer") from error
        except NeonizeError as error:
            raise failure_of(str(error)) from error
        except Exception as error:  # what it raises besides came after it had the message
            raise OutcomeUnknown(f"{type(error).__name__} in the library") from error

    def _new_client(self) -> Any:
        # WAL lets the gateway read while the library writes. "x" takes what the library appends.
        name = f"{self._session}?_journal_mode=WAL&_busy_timeout=10000&_foreign_keys=on&x="
        # An id of its own: a client that is collected ends whichever has its id.
        props = DeviceProps(os=NAME, platformType=DeviceProps.CHROME)
        client = self._make_client(name, uuid=uuid4().hex, props=props)
        client.on_login = self._login_of_another_thread
        for kind in WANTED:
            client.event(getattr(neonize_event_types, kind))(self._heard)

        async def on_qr(_client: Any, _code: bytes) -> None:
            self._pairable.set()
            self._first.set()

        client.event.qr(on_qr)
        return client

    def _proxy_settings(self) -> Any:
        if not self._proxy:
            return None
        from neonize._binder import ProxySettings

        return ProxySettings(self._proxy)

    async def _heard(self, _client: Any, event: Any) -> None:
        """No await in it, so that events keep their order."""
        self._first.set()
        try:
            events = [] if self._disappearing.covers(event) else translated(event)
        except Exception as error:  # noqa: BLE001 - the library would swallow it; one event must not end the rest
            print(
                f"{type(error).__name__}: an event could not be read: {type(event).__name__}", file=sys.stderr
            )
            return
        for each in events:
            self._emit(each)

    def _login_of_another_thread(self, words: str) -> None:
        self._loop.call_soon_threadsafe(self._login, words)

    def _login(self, words: str) -> None:
        self._first.set()
        self._emit(PairingStatus(status=words))

    def _gave_up(self, task: asyncio.Task[None]) -> None:
        self._client = self._task = None
        if not self._leaving:
            self._emit(WireDown(why=_why(task)))

    def _asked(self) -> Any:
        if self._client is None:
            raise WireGone("not connected")
        return self._client


def jid_of(chat: str) -> Any:
    """The library's id for `chat`. Raises NotSent for what is none that can be written to."""
    user, _, server = chat.partition("@")
    if server not in (NUMBERS, LIDS, GROUPS) or not user.replace("-", "").isdecimal() or not user.isascii():
        raise NotSent("no id of a person or group")
    return JID(User=user, Server=server, RawAgent=0, Device=0, Integrator=0, IsEmpty=False)


def _why(task: asyncio.Task[None]) -> str:
    if task.cancelled():
        return "the library's connection was cancelled"
    return str(task.exception() or "the library ended the connection")
