"""A gateway to WhatsApp on loopback that keeps its promises on sends, chats and the link; it talks to nobody.

An id sends once, whatever comes with it again; what a send was refused for leaves no record. `link` says how
WhatsApp is, `chats` who can be found and written to, `outcome` what becomes of the next sends. `hold` makes a
send wait before it is done, or after. What it promises of chats and sends the real gateway promises:
tests/contract/test_whatsapp_gateways_alike.py.
"""

import asyncio
import hashlib
import unicodedata
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Final

import grpc
from google.protobuf.timestamp_pb2 import Timestamp
from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1
from onechat.whatsapp.v1 import whatsapp_service_pb2_grpc
from onechat_runtime.clock import Clock, SystemClock
from onechat_runtime.errors import BadRequestId, KeyReused, ServiceError
from onechat_runtime.listening import Served

from tests.fakes.loopback import Loopback, serving

CODE: Final = "ABCD-EFGH"
CODE_S: Final = 160
FOUND_MAX: Final = 20
NO_GROUPS: Final = "WhatsApp is not connected, so its groups cannot be looked through."
_IMAGES: Final = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"RIFF")  # what each begins with
_UNLINKED: Final = (v1.LINK_STATE_NOT_LINKED, v1.LINK_STATE_LOGGED_OUT)
_DESCRIPTOR: Final = v1.DESCRIPTOR.services_by_name["WhatsAppService"]


class PhoneInvalid(ServiceError):
    """Write the number in international form, such as +39 333 123 4567."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "PHONE_INVALID"


class LinkedAlready(ServiceError):
    """An account is linked. Run /whatsapp unlink first."""

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "LINKED_ALREADY"


class PairingRuns(ServiceError):
    """A pairing is under way."""

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "PAIRING_RUNS"


class NotLinked(ServiceError):
    """WhatsApp is not linked. The user can run /whatsapp pair PHONE."""

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "NOT_LINKED"


class NamesNotReady(ServiceError):
    """The names have not come from the phone yet."""

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "NAMES_NOT_READY"


class NotConnected(ServiceError):
    """WhatsApp is not connected."""

    code, reason = grpc.StatusCode.UNAVAILABLE, "NOT_CONNECTED"


class ChatUnknown(ServiceError):
    """There is no such chat."""

    code, reason = grpc.StatusCode.NOT_FOUND, "CHAT_UNKNOWN"


class MessageEmpty(ServiceError):
    """The message is empty."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "MESSAGE_EMPTY"


class ImageInvalid(ServiceError):
    """This is no image."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "IMAGE_INVALID"


class SendUnknown(ServiceError):
    """There is no such send."""

    code, reason = grpc.StatusCode.NOT_FOUND, "SEND_UNKNOWN"


@dataclass(frozen=True, kw_only=True)
class Message:
    """What left for a chat."""

    chat: str
    text: str
    image: bytes = b""


@dataclass(kw_only=True)
class Hold:
    """The next send waits for `released`, before it is done or, once done, before it is answered."""

    when: str
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(kw_only=True)
class WhatsAppServicer(whatsapp_service_pb2_grpc.WhatsAppServiceServicer):
    """The gateway's state."""

    clock: Clock = field(default_factory=SystemClock)
    link: Any = v1.LINK_STATE_CONNECTED
    names_ready: bool = True
    chats: dict[str, v1.Chat] = field(default_factory=dict)  #: by id
    lids: dict[str, str] = field(default_factory=dict)  #: the id by number of a LID
    outcome: Any = v1.SEND_STATE_SENT
    failure: str = "WhatsApp refused it with error 479."  #: of sends whose outcome is that they failed
    says: v1.GetStatusResponse = field(default_factory=v1.GetStatusResponse)  #: beside the link
    left: list[Message] = field(default_factory=list)  #: what was sent, oldest first
    pairing: bool = False  #: a code was given and not yet typed in
    phones: list[str] = field(default_factory=list)  #: what codes were asked for
    calls: Counter[str] = field(default_factory=Counter)  #: by method, failed ones too
    holds: list[Hold] = field(default_factory=list)
    _sends: dict[str, tuple[Message, v1.Send]] = field(default_factory=dict)
    _first: dict[str, tuple[bytes, Any]] = field(default_factory=dict)  # by request id: body, answer

    def add(self, chat: str, name: str) -> None:
        """Someone, or a group, who can be found and written to."""
        kind = v1.CHAT_KIND_GROUP if chat.endswith("@g.us") else v1.CHAT_KIND_CONTACT
        self.chats[chat] = v1.Chat(chat_id=chat, name=name, kind=kind)

    def hold(self, when: str = "before") -> Hold:
        """Have the next send wait; see Hold."""
        self.holds.append(Hold(when=when))
        return self.holds[-1]

    def sent_by(self, request_id: str) -> Message | None:
        """What the send with that id was asked for first."""
        return self._sends[request_id][0] if request_id in self._sends else None

    async def Pair(self, request: Any, context: Any) -> v1.PairResponse:
        self.calls["Pair"] += 1

        def pair() -> v1.PairResponse:
            digits = "".join(filter(str.isdecimal, request.phone))
            if len(digits) < 7 or digits.startswith("0"):
                raise PhoneInvalid
            if self._linked:
                raise LinkedAlready
            if self.pairing:
                raise PairingRuns
            self.pairing = True
            self.phones.append(request.phone)
            return v1.PairResponse(code=CODE, expire_time=self._stamp(CODE_S))

        answer: v1.PairResponse = self._once(request, pair)
        return answer

    async def GetStatus(self, request: Any, context: Any) -> v1.GetStatusResponse:
        self.calls["GetStatus"] += 1
        status = v1.GetStatusResponse()
        status.CopyFrom(self.says)
        status.link = self.link
        return status

    async def Unlink(self, request: Any, context: Any) -> v1.UnlinkResponse:
        self.calls["Unlink"] += 1

        def unlink() -> v1.UnlinkResponse:
            # Without a link there is nothing to tell, nor to remove on the phone.
            told = self.link in (v1.LINK_STATE_CONNECTED, *_UNLINKED)
            self.link, self.pairing = v1.LINK_STATE_NOT_LINKED, False
            return v1.UnlinkResponse(told=told)

        answer: v1.UnlinkResponse = self._once(request, unlink)
        return answer

    async def FindChats(self, request: Any, context: Any) -> v1.FindChatsResponse:
        self.calls["FindChats"] += 1
        if not self._linked:
            raise NotLinked
        if not self.names_ready:
            raise NamesNotReady
        found, groups_missing = self._found(request.name), ""
        if self.link != v1.LINK_STATE_CONNECTED:
            found = [chat for chat in found if chat.kind != v1.CHAT_KIND_GROUP]
            groups_missing = NO_GROUPS
        size = min(request.page_size or FOUND_MAX, FOUND_MAX)
        return v1.FindChatsResponse(
            chats=found[:size],
            next_page_token=str(size) if found[size:] else "",
            groups_missing=groups_missing,
        )

    async def SendMessage(self, requests: Any, context: Any) -> v1.SendMessageResponse:
        self.calls["SendMessage"] += 1
        header, message, whole = await _read(requests)
        message = replace(message, chat=self._person(message.chat))
        if not 0 < len(header.request_id) <= 200 or not header.request_id.isascii():
            raise BadRequestId
        await self._held("before")
        known = self._sends.get(header.request_id)
        if known is None:
            self._want_sendable(message, whole)
            known = self._sends[header.request_id] = (message, self._sent(header))
            if self.outcome == v1.SEND_STATE_SENT:
                self.left.append(message)
        await self._held("after")
        first, send = known
        return v1.SendMessageResponse(send=send, other_message=not whole or first != message)

    async def GetSend(self, request: Any, context: Any) -> v1.GetSendResponse:
        self.calls["GetSend"] += 1
        if request.request_id not in self._sends:
            raise SendUnknown
        return v1.GetSendResponse(send=self._sends[request.request_id][1])

    def _found(self, asked: str) -> list[v1.Chat]:
        """The chat of that id alone, or all whose name holds it."""
        if "@" in asked:
            chat = self._person(asked)
            return [self.chats[chat]] if chat in self.chats else []
        return [chat for chat in self.chats.values() if _folded(asked) in _folded(chat.name)]

    def _person(self, chat: str) -> str:
        return self.lids.get(chat, chat)

    @property
    def _linked(self) -> bool:
        return self.link in (v1.LINK_STATE_CONNECTED, v1.LINK_STATE_DISCONNECTED)

    def _want_link(self) -> None:
        if not self._linked:
            raise NotLinked
        if self.link != v1.LINK_STATE_CONNECTED:
            raise NotConnected

    def _want_sendable(self, message: Message, whole: bool) -> None:
        if not whole:
            raise ImageInvalid
        if not message.text.strip() and not message.image:
            raise MessageEmpty
        self._want_link()
        if message.chat not in self.chats:
            raise ChatUnknown

    def _sent(self, header: v1.SendHeader) -> v1.Send:
        return v1.Send(
            request_id=header.request_id,
            chat_id=header.chat_id,
            state=self.outcome,
            message_id=f"3EB0{len(self._sends):04}" if self.outcome == v1.SEND_STATE_SENT else "",
            failure=self.failure if self.outcome == v1.SEND_STATE_FAILED else "",
            time=self._stamp(),
        )

    def _once(self, request: Any, act: Any) -> Any:
        """What `act` gives, once for the same request id."""
        body = request.SerializeToString(deterministic=True)
        first = self._first.get(request.request_id)
        if first is not None:
            if first[0] != body:
                raise KeyReused
            return first[1]
        answer = act()
        if request.request_id:
            self._first[request.request_id] = (body, answer)
        return answer

    async def _held(self, when: str) -> None:
        for hold in self.holds:
            if hold.when == when:
                self.holds.remove(hold)
                hold.reached.set()
                await hold.released.wait()
                return

    def _stamp(self, seconds: float = 0.0) -> Timestamp:
        stamp = Timestamp()
        stamp.FromDatetime(self.clock.now() + timedelta(seconds=seconds))
        return stamp


def served(whatsapp: WhatsAppServicer) -> Served:
    """`whatsapp` for whom it serves."""
    return Served(
        descriptor=_DESCRIPTOR,
        add=lambda server: whatsapp_service_pb2_grpc.add_WhatsAppServiceServicer_to_server(whatsapp, server),
        allow={method.name: frozenset({"agent", "operator"}) for method in _DESCRIPTOR.methods},
    )


@asynccontextmanager
async def whatsapp_serving(whatsapp: WhatsAppServicer) -> AsyncIterator[Loopback]:
    """Serve `whatsapp` on loopback."""
    async with serving(served(whatsapp), name="whatsapp") as loopback:
        yield loopback


async def _read(requests: Any) -> tuple[v1.SendHeader, Message, bool]:
    """The header of a send, the message, and whether the image that it has, if any, is one and whole."""
    header, image, claimed, pieces = v1.SendHeader(), bytearray(), b"", 0
    async for request in requests:
        if request.HasField("header"):
            header = request.header
        else:
            pieces += 1
            image += request.chunk.content
            claimed = request.chunk.sha256
    fits = hashlib.sha256(image).digest() == claimed and image.startswith(_IMAGES)
    return header, Message(chat=header.chat_id, text=header.text, image=bytes(image)), not pieces or fits


def _folded(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
