"""Chats and sends between the contract onechat.whatsapp.v1 and the domain; pages of chats."""

import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final

from onechat.common.v1.chunk_pb2 import Chunk
from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1

from onechat_whatsapp.domain.name_search import FOUND_MAX, ChatKind, NamedChat
from onechat_whatsapp.domain.pictures import IMAGE_BYTES_MAX, PIECE_BYTES_MAX, TOO_LARGE
from onechat_whatsapp.domain.records import OutgoingMessage, SendRecord, SendState
from onechat_whatsapp.errors import BadPage, MessageEmpty

CONTACTS_MAX: Final = 1_000  # of ListContacts
CONTACTS_USUAL: Final = 100

BROKEN: Final = "The image did not arrive whole, and nothing was sent: send it again with a new id."

_KINDS: Final = {ChatKind.CONTACT: v1.CHAT_KIND_CONTACT, ChatKind.GROUP: v1.CHAT_KIND_GROUP}
_STATES: Final = {
    SendState.SENDING: v1.SEND_STATE_UNKNOWN,  # as long as that is so, nobody can tell
    SendState.SENT: v1.SEND_STATE_SENT,
    SendState.UNKNOWN: v1.SEND_STATE_UNKNOWN,
    SendState.FAILED: v1.SEND_STATE_FAILED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedSend:
    """A whole stream of SendMessage."""

    request_id: str
    message: OutgoingMessage
    image_fault: str  #: what is wrong with how its image came, a sentence; "" for nothing


async def asked_send(requests: AsyncIterator[v1.SendMessageRequest]) -> AskedSend:
    """What `requests` ask for, read to the end. Raises MessageEmpty where no header comes first."""
    first = await anext(requests, None)
    if first is None or first.WhichOneof("part") != "header":
        raise MessageEmpty("A send begins with its header, and nothing was sent.")
    content, claimed, fault, has_image = bytearray(), b"", "", False
    async for request in requests:
        has_image = True
        fault = fault or _fault(request, claimed, len(content))
        if not fault:
            content += request.chunk.content
            claimed = request.chunk.sha256
    if has_image and not fault and hashlib.sha256(content).digest() != claimed:
        fault = BROKEN
    header = first.header
    image = bytes(content) if has_image else None
    return AskedSend(
        request_id=header.request_id,
        message=OutgoingMessage(chat=header.chat_id, text=header.text, image=image),
        image_fault=fault,
    )


def _fault(request: v1.SendMessageRequest, claimed: bytes, size: int) -> str:
    """Why no image has this part after `size` bytes; "" where it may. `claimed`: the checksum before it."""
    chunk: Chunk = request.chunk
    if request.WhichOneof("part") != "chunk" or claimed or len(chunk.content) > PIECE_BYTES_MAX:
        return BROKEN
    return TOO_LARGE if size + len(chunk.content) > IMAGE_BYTES_MAX else ""


def send_to_proto(record: SendRecord) -> v1.Send:
    """What became of a send."""
    return v1.Send(
        request_id=record.request_id,
        chat_id=record.chat,
        state=_STATES[record.state],
        message_id=record.message_id,
        failure=record.failure,
        time=record.time,
    )


def chat_to_proto(chat: NamedChat) -> v1.Chat:
    """A chat as it is shown."""
    return v1.Chat(chat_id=chat.id, name=chat.name, kind=_KINDS[chat.kind])


def found_place(request: v1.FindChatsRequest) -> tuple[int, int]:
    """Where the page begins that `request` asks for, and how many chats it has. Raises BadPage."""
    token = request.page_token
    if token and not (token.isascii() and token.isdecimal() and len(token) < 10):
        raise BadPage
    return int(token or 0), _size(request.page_size, usual=FOUND_MAX, most=FOUND_MAX)


def found_page(
    chats: Sequence[NamedChat], start: int, *, more: bool, groups_missing: str
) -> v1.FindChatsResponse:
    """A page of chats that begins at `start`; `more` come after it. `groups_missing`: why it has no group."""
    token = str(start + len(chats)) if more else ""
    return v1.FindChatsResponse(
        chats=map(chat_to_proto, chats), next_page_token=token, groups_missing=groups_missing
    )


def contacts_place(request: v1.ListContactsRequest) -> tuple[str, int]:
    """The id after which the page begins, and how many contacts it has. Raises BadPage."""
    if request.page_token and "@" not in request.page_token:
        raise BadPage
    return request.page_token, _size(request.page_size, usual=CONTACTS_USUAL, most=CONTACTS_MAX)


def contacts_page(people: Sequence[NamedChat], *, more: bool) -> v1.ListContactsResponse:
    """A page of contacts in order of their ids; `more` come after it."""
    token = people[-1].id if more else ""
    return v1.ListContactsResponse(contacts=map(chat_to_proto, people), next_page_token=token)


def _size(wanted: int, *, usual: int, most: int) -> int:
    if not 0 <= wanted <= most:
        raise BadPage(f"page_size is 0 to {most}.")
    return wanted or usual
