"""The gateway to WhatsApp, as the agent uses it. Raises the runtime's RemoteError; deadlines in seconds.

What it refuses because of what it was asked, or because of how the link is, is a WhatsAppRefused
(domain/whatsapp.py) in its own words.
"""

import hashlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, Final

import grpc.aio
from google.protobuf.timestamp_pb2 import Timestamp
from onechat.common.v1.chunk_pb2 import Chunk
from onechat.whatsapp.v1 import whatsapp_service_pb2 as service
from onechat.whatsapp.v1 import whatsapp_service_pb2_grpc

from onechat_agent.adapters.refusals import refusals_of
from onechat_agent.domain.whatsapp import (
    Chat,
    ChatKind,
    Found,
    LinkState,
    LinkStatus,
    PairingCode,
    SendState,
    Sent,
    WhatsAppRefused,
)

STATUS_S: Final = 5.0  # the contract's
FIND_S: Final = 15.0
SEND_S: Final = 60.0
COMMAND_S: Final = 25.0  # for pairing and unlinking: below what a command line's own call has
PAGE: Final = 20  # chats, the most that are given at once
PIECE: Final = 65_536  # bytes of an image

_refusals: Final = refusals_of(service.ErrorReason, WhatsAppRefused)
_LINKS: Final = {
    service.LINK_STATE_NOT_LINKED: LinkState.NOT_LINKED,
    service.LINK_STATE_CONNECTED: LinkState.CONNECTED,
    service.LINK_STATE_DISCONNECTED: LinkState.DISCONNECTED,
    service.LINK_STATE_LOGGED_OUT: LinkState.LOGGED_OUT,
    service.LINK_STATE_REPLACED: LinkState.REPLACED,
    service.LINK_STATE_BANNED: LinkState.BANNED,
    service.LINK_STATE_OUTDATED: LinkState.OUTDATED,
}
_SENDS: Final = {service.SEND_STATE_SENT: SendState.SENT, service.SEND_STATE_FAILED: SendState.FAILED}


class WhatsAppClient:
    """The user's WhatsApp account, as far as the gateway is linked to it."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub: Any = whatsapp_service_pb2_grpc.WhatsAppServiceStub(channel)

    async def pair(self, phone: str, *, request_id: str) -> PairingCode:
        """A code for that phone number, one for the same `request_id`. Raises WhatsAppRefused."""
        request = service.PairRequest(phone=phone, request_id=request_id)
        with _refusals():
            answer = await self._stub.Pair(request, timeout=COMMAND_S)
        return PairingCode(code=answer.code, expire_time=_time(answer, "expire_time"))

    async def status(self) -> LinkStatus:
        """How the link is. Raises WhatsAppRefused."""
        with _refusals():
            answer = await self._stub.GetStatus(service.GetStatusRequest(), timeout=STATUS_S)
        return LinkStatus(
            state=_LINKS.get(answer.link, LinkState.OTHER),
            since=_time(answer, "change_time"),
            last_connect=_time(answer, "last_connect_time"),
            last_disconnect=_time(answer, "last_disconnect_time"),
            ban_end=_time(answer, "ban_end_time"),
            last_event=_time(answer, "last_event_time"),
            batches=answer.batches,
            undecryptable=answer.undecryptable,
            trouble=answer.trouble,
        )

    async def unlink(self, *, request_id: str) -> bool:
        """Ends the link, once for the same `request_id`; whether WhatsApp was told.

        Raises WhatsAppRefused.
        """
        request = service.UnlinkRequest(request_id=request_id)
        with _refusals():
            answer = await self._stub.Unlink(request, timeout=COMMAND_S)
        return bool(answer.told)

    async def find(self, name: str) -> Found:
        """Chats whose name holds `name`, or the one of that id. Raises WhatsAppRefused."""
        request = service.FindChatsRequest(name=name, page_size=PAGE)
        with _refusals():
            answer = await self._stub.FindChats(request, timeout=FIND_S)
        return Found(
            chats=tuple(map(_chat, answer.chats)),
            more=bool(answer.next_page_token),
            groups_missing=answer.groups_missing,
        )

    async def send(self, chat: str, text: str, *, image: bytes | None, request_id: str) -> Sent:
        """Sends a message, once for the same `request_id`, whatever it says. Raises WhatsAppRefused."""
        header = service.SendHeader(request_id=request_id, chat_id=chat, text=text)
        with _refusals():
            answer = await self._stub.SendMessage(_parts(header, image), timeout=SEND_S)
        sent = answer.send
        return Sent(
            state=_SENDS.get(sent.state, SendState.UNKNOWN),
            chat=sent.chat_id,
            time=_time(sent, "time"),
            other_message=answer.other_message,
            failure=sent.failure,
        )


async def _parts(
    header: service.SendHeader, image: bytes | None
) -> AsyncIterator[service.SendMessageRequest]:
    """The header, then the image in pieces with its checksum at the end."""
    yield service.SendMessageRequest(header=header)
    if image is not None:
        for start in range(0, len(image), PIECE):
            yield service.SendMessageRequest(chunk=Chunk(content=image[start : start + PIECE]))
        yield service.SendMessageRequest(chunk=Chunk(sha256=hashlib.sha256(image).digest()))


def _chat(found: service.Chat) -> Chat:
    kind = ChatKind.GROUP if found.kind == service.CHAT_KIND_GROUP else ChatKind.CONTACT
    return Chat(id=found.chat_id, name=found.name, kind=kind)


def _time(answer: Any, field: str) -> datetime | None:
    """An instant of `answer`; None where it has none."""
    if not answer.HasField(field):
        return None
    stamp: Timestamp = getattr(answer, field)
    return stamp.ToDatetime(tzinfo=UTC)
