"""The rooms that find chats and send to them, put together: what they hear, and what runs beside them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from onechat_runtime.clock import Clock
from onechat_runtime.steps import Reached, on_we_go
from onechat_runtime.store import Store

from onechat_whatsapp.adapters import batch_rows
from onechat_whatsapp.chat_servicer import ChatServicer
from onechat_whatsapp.directory import Directory
from onechat_whatsapp.finding import Finding, LinkedSince
from onechat_whatsapp.hearing import Hears
from onechat_whatsapp.sending import Sending
from onechat_whatsapp.wire.ports import WhatsAppWire


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRooms:
    """What finds chats and sends to them."""

    directory: Directory
    finding: Finding
    sending: Sending
    servicer: ChatServicer
    hears: tuple[Hears, ...]
    background: tuple[Callable[[], Awaitable[None]], ...]


async def opened_chats(
    wire: WhatsAppWire,
    store: Store,
    *,
    clock: Clock,
    linked_since: LinkedSince,
    trouble: Callable[[], str] = lambda: "",
    reached: Reached = on_we_go,
) -> ChatRooms:
    """Ready to find and send; what the last process was sending is noted as not known.

    `linked_since` and `trouble` are the link's: since when there is one, what is wrong with it.
    """
    directory = Directory(wire, lambda chat: store.read(lambda db: batch_rows.has_heard(db, chat)), clock)
    finding = Finding(directory, linked_since, clock, trouble=trouble)
    sending = Sending(store, wire, directory, clock, reached, trouble=trouble)
    await sending.open()
    return ChatRooms(
        directory=directory,
        finding=finding,
        sending=sending,
        servicer=ChatServicer(directory, finding, sending),
        hears=(directory.hear,),
        background=(sending.run,),
    )
