"""The gateway's part that finds chats and sends, over a store of its own and the fake wire.

async with desk_at(folder) as desk:
    await desk.sending.send("1", text("hello"))
    desk.account.sent
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1
from onechat.whatsapp.v1 import whatsapp_service_pb2_grpc
from onechat_runtime.clock import micros
from onechat_runtime.listening import Served
from onechat_runtime.steps import Reached, on_we_go
from onechat_runtime.store import Store, migrations_in
from onechat_whatsapp.adapters import send_rows
from onechat_whatsapp.chat_servicer import ChatServicer
from onechat_whatsapp.chat_wiring import ChatRooms, opened_chats
from onechat_whatsapp.directory import Directory
from onechat_whatsapp.domain.names import Contact
from onechat_whatsapp.domain.records import OutgoingMessage
from onechat_whatsapp.finding import Finding
from onechat_whatsapp.sending import Sending
from onechat_whatsapp.wire.ports import GroupRow

from tests.fakes.clock import ManualClock
from tests.fakes.stores import store_at
from tests.fakes.whatsapp_account import OWNER, WhatsAppAccount
from tests.fakes.whatsapp_scripts import ANN, ANN_LID, BOB, BOB_LID, CARS, CAT, CAT_LID, GARDEN
from tests.fakes.whatsapp_wire import FakeWire

START = datetime(2026, 11, 30, 12, tzinfo=UTC)
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x00\x01\x00\x00\x00\x01"
FINDS_AND_SENDS = ("FindChats", "SendMessage", "GetSend", "GetProfile", "ListContacts")


def contact(jid: str, full_name: str = "", *, first: str = "", push: str = "", business: str = "") -> Contact:
    """Somebody whom the session knows."""
    return Contact(id=jid, full_name=full_name, first_name=first, push_name=push, business_name=business)


def text(words: str = "hello", *, chat: str = BOB) -> OutgoingMessage:
    """A message without an image."""
    return OutgoingMessage(chat=chat, text=words, image=None)


def account_of_ann() -> WhatsAppAccount:
    """An account with an address book: Bob by both of his ids, Cat by number, herself, and two groups."""
    account = WhatsAppAccount(OWNER)
    account.contacts = [
        contact(ANN, "Ann Me", push="Ann"),
        contact(ANN_LID, push="Ann"),
        contact(BOB, "Bob Builder", push="bobby"),
        contact(BOB_LID, push="bobby"),
        contact(CAT, "Cátia Gomes", first="Cátia"),
    ]
    account.lids = {ANN: ANN_LID, BOB: BOB_LID, CAT: CAT_LID}
    account.groups_joined = [GroupRow(id=GARDEN, name="Garden"), GroupRow(id=CARS, name="Cars & Bob's")]
    return account


@dataclass(kw_only=True)
class Desk:
    """What a test of finding and sending looks at."""

    account: WhatsAppAccount
    wire: FakeWire
    clock: ManualClock
    store: Store
    rooms: ChatRooms

    @property
    def directory(self) -> Directory:
        """Which chats there are."""
        return self.rooms.directory

    @property
    def finding(self) -> Finding:
        """What finds them."""
        return self.rooms.finding

    @property
    def sending(self) -> Sending:
        """What sends to them."""
        return self.rooms.sending

    def left(self) -> list[tuple[str, str]]:
        """Chats and texts of what left."""
        return [(sent.chat, sent.text) for sent in self.account.sent]

    def known(self, request_id: str) -> bool:
        """Whether there is a record of a send with this id."""
        return self.store.read(lambda db: send_rows.find(db, request_id)) is not None

    async def at_work(self, request_id: str) -> None:
        """Return once the send with this id is with the wire."""
        async with asyncio.timeout(5):
            while not self.known(request_id):
                await asyncio.sleep(0)
            for _ in range(10):
                await asyncio.sleep(0)

    async def hear(self, chat: str) -> None:
        """Have a message of `chat` behind us."""
        row = (chat, "3EB0", micros(self.clock.now()))
        await self.store.write(lambda db: db.execute("INSERT INTO heard VALUES (?, ?, ?)", row))

    async def found(self, name: str) -> list[tuple[str, str]]:
        """Ids and names of what is found, of a first page."""
        page = await self.finding.find(name)
        return [(chat.id, chat.name) for chat in page.chats]

    async def people(self) -> list[tuple[str, str]]:
        """Ids and names of the contacts."""
        page = await self.finding.contacts(count=1_000)
        return [(chat.id, chat.name) for chat in page.chats]

    def served(self) -> Served:
        """The calls about chats behind the door."""
        return Served(
            descriptor=v1.DESCRIPTOR.services_by_name["WhatsAppService"],
            add=lambda server: whatsapp_service_pb2_grpc.add_WhatsAppServiceServicer_to_server(
                _Door(self.directory, self.finding, self.sending), server
            ),
            allow={
                method.name: frozenset({"agent", "operator"})
                for method in v1.DESCRIPTOR.services_by_name["WhatsAppService"].methods
            },
        )


class _Door(ChatServicer, whatsapp_service_pb2_grpc.WhatsAppServiceServicer):
    """Chats alone."""


@asynccontextmanager
async def desk_at(
    folder: Path,
    *,
    account: WhatsAppAccount | None = None,
    clock: ManualClock | None = None,
    reached: Reached = on_we_go,
    linked_since: datetime | None = START,
    trouble: str = "",
    online: bool = True,
    **store: Any,
) -> AsyncIterator[Desk]:
    """A desk on what is kept in `folder`, open; connected unless told otherwise."""
    account, clock = account or account_of_ann(), clock or ManualClock(START)
    wire = FakeWire(account)
    if online:
        await wire.start()
    async with store_at(
        folder / "store.db",
        component="whatsapp",
        migrations=migrations_in("onechat_whatsapp.migrations"),
        clock=clock,
        **store,
    ) as opened:
        rooms = await opened_chats(
            wire,
            opened,
            clock=clock,
            linked_since=lambda: linked_since,
            trouble=lambda: trouble,
            reached=reached,
        )
        running = [asyncio.create_task(each()) for each in rooms.background]
        try:
            yield Desk(account=account, wire=wire, clock=clock, store=opened, rooms=rooms)
        finally:
            for each in running:
                each.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            await wire.stop()
