"""The real child process and the real neonize, with a client that plays a script instead of dialling.

    python -m tests.fakes.whatsapp_client SCRIPT SESSION

It shows what the wire makes of the library's own objects, without a network. What a client is asked to send
goes into SESSION.left, a line of JSON each; a chat of number 1404… is refused, 1500… is not answered by
WhatsApp, 1700… not even by the library, and 1600… ends the connection. SCRIPT is one of linked, unpaired,
gives-up (once it is asked for groups), refused, mute, shapes (all of whatsapp_shapes.py, and a flood).
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

from neonize import events
from neonize.exc import (
    GetJoinedGroupsError,
    LogoutError,
    NeonizeError,
    PairPhoneError,
    SendMessageError,
    UploadError,
)
from neonize.proto.Neonize_pb2 import (
    JID,
    Connected,
    GroupInfo,
    GroupName,
    OfflineSyncCompleted,
    SendResponse,
    UploadResponse,
)
from onechat_whatsapp.wire_child.__main__ import guard
from onechat_whatsapp.wire_child.neonize_client import NeonizeLibrary
from onechat_whatsapp.wire_child.serving import serve, take_output

from tests.fakes.whatsapp_events import plain, said
from tests.fakes.whatsapp_scripts import BOB, CARS, GARDEN
from tests.fakes.whatsapp_shapes import flood, shapes

GONE = "websocket not connected"
SEND_S = 1.0


class _Registry:
    """Takes handlers as the library's `client.event` does."""

    def __init__(self) -> None:
        self.handlers: dict[int, Any] = {}
        self.on_qr: Any = None

    def __call__(self, kind: Any) -> Callable[[Any], None]:
        def put(handler: Any) -> None:
            self.handlers[events.EVENT_TO_INT[kind]] = handler

        return put

    def qr(self, handler: Any) -> None:
        self.on_qr = handler


class ScriptedClient:
    """A client of the library's, as far as the wire asks it anything."""

    def __init__(self, script: str, name: str, *, uuid: str, props: Any) -> None:
        self.script, self.uuid, self.props = script, uuid, props
        self.left = Path(name.split("?")[0] + ".left")
        self.on_login: Callable[[str], None] = lambda words: None
        self.event = _Registry()
        self.connected = self.logged_in = False
        self.ended = asyncio.Event()
        self.fault = "unknown failure 418 of 15550001111" if script == "gives-up" else ""

    async def connect(self, proxy: Any = None) -> "asyncio.Task[None]":
        async def connection() -> None:
            if self.script == "refused":
                raise NeonizeError("failed to dial")
            self.connected = self.script != "mute"
            if self.script == "unpaired":
                await self.event.on_qr(self, b"2@code")
            elif self.script != "mute":
                await self._log_in()
            await self.ended.wait()
            self.connected = False
            if self.fault:
                raise NeonizeError(self.fault)

        return asyncio.create_task(connection())

    async def stop(self) -> None:
        if self.script != "unpaired":  # that one can't be ended
            self.ended.set()

    async def logout(self) -> None:
        if not self.connected:
            raise LogoutError(GONE)
        self.ended.set()

    @property
    async def is_connected(self) -> bool:
        return self.connected

    @property
    async def is_logged_in(self) -> bool:
        return self.logged_in

    async def PairPhone(self, phone: str, push: bool, name: Any, kind: Any) -> str:
        if len(phone) < 7:
            raise PairPhoneError("phone number too short")
        if phone.endswith("9"):
            self.on_login("passkey-request")
        else:
            self.on_login("success")
            await self._log_in()
        return "ABCD-EFGH"

    async def send_message(self, jid: Any, message: Any) -> Any:
        if jid.User.startswith("1404"):
            raise SendMessageError("server returned error 404")
        if jid.User.startswith("1500"):
            raise SendMessageError("timed out waiting for message send response")
        if jid.User.startswith("1700"):
            await asyncio.Event().wait()
        if jid.User.startswith("1600"):
            self.ended.set()
            raise KeyError("something of its own")
        with self.left.open("a") as file:
            file.write(json.dumps([f"{jid.User}@{jid.Server}", message.SerializeToString().hex()]) + "\n")
        return SendResponse(ID="3EB0CC", Timestamp=1)

    async def upload(self, data: bytes, kind: Any) -> Any:
        if not data:
            raise UploadError("upload failed with status code 400")
        return UploadResponse(
            url="https://mmg.whatsapp.net/x",
            DirectPath="/x",
            Handle="",
            MediaKey=b"k" * 32,
            FileEncSHA256=b"e" * 32,
            FileSHA256=b"s" * 32,
            FileLength=len(data),
        )

    async def get_joined_groups(self) -> list[Any]:
        if self.fault:
            self.ended.set()
        if not self.connected:
            raise GetJoinedGroupsError(GONE)
        jid = JID(User=GARDEN.split("@")[0], Server="g.us", RawAgent=0, Device=0, Integrator=0, IsEmpty=False)
        garden = GroupInfo()
        garden.JID.CopyFrom(jid)
        garden.GroupName.CopyFrom(GroupName(Name="Garden"))
        cars = GroupInfo()
        cars.JID.CopyFrom(jid)
        cars.JID.User = CARS.split("@")[0]
        name = GroupName(Name="C?rs", NameSetAt=0, NameSetBy=jid).SerializeToString()
        cars.GroupName.CopyFrom(GroupName.FromString(name.replace(b"?", b"\xff")))  # others choose it
        return [garden, cars]

    async def _log_in(self) -> None:
        self.logged_in = True
        await self._emit(Connected(status=True))
        if self.script == "shapes":
            for shape in chain(shapes(), flood()):
                await self._emit(shape.event)
            return
        await self._emit(said(plain("hello"), chat=BOB, sender=BOB))
        await self._emit(OfflineSyncCompleted(Count=1))

    async def _emit(self, event: Any) -> None:
        name = event.DESCRIPTOR.name
        numbers = [number for number, kind in events.INT_TO_EVENT.items() if kind.DESCRIPTOR.name == name]
        await self.event.handlers[numbers[0]](self, event)


async def main(script: str, session: Path) -> None:
    output = take_output()
    guard()
    os.environ.pop("HTTPS_PROXY", None)

    def client(name: str, **named: Any) -> ScriptedClient:
        return ScriptedClient(script, name, **named)

    await serve(lambda emit: NeonizeLibrary(session, emit, client=client, send_s=SEND_S), output)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
