"""onechat.whatsapp.v1.WhatsAppService at its door: who may call what, and which room answers."""

from collections.abc import AsyncIterator
from typing import Any, Final

import grpc.aio
from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1
from onechat.whatsapp.v1 import whatsapp_service_pb2_grpc
from onechat_runtime.listening import Served

from onechat_whatsapp.chat_servicer import ChatServicer
from onechat_whatsapp.link_servicer import LinkServicer

DESCRIPTOR: Final = v1.DESCRIPTOR.services_by_name["WhatsAppService"]
_CALLERS: Final = frozenset({"agent", "operator"})
ALLOW: Final = {method.name: _CALLERS for method in DESCRIPTOR.methods}


class WhatsAppServicer(whatsapp_service_pb2_grpc.WhatsAppServiceServicer):
    """The gateway at its door."""

    def __init__(self, link: LinkServicer, chats: ChatServicer) -> None:
        self._link = link
        self._chats = chats

    async def Pair(self, request: v1.PairRequest, context: Any) -> v1.PairResponse:
        return await self._link.Pair(request, context)

    async def GetStatus(self, request: v1.GetStatusRequest, context: Any) -> v1.GetStatusResponse:
        return await self._link.GetStatus(request, context)

    async def Unlink(self, request: v1.UnlinkRequest, context: Any) -> v1.UnlinkResponse:
        return await self._link.Unlink(request, context)

    async def FindChats(self, request: v1.FindChatsRequest, context: Any) -> v1.FindChatsResponse:
        return await self._chats.FindChats(request, context)

    async def SendMessage(
        self, requests: AsyncIterator[v1.SendMessageRequest], context: Any
    ) -> v1.SendMessageResponse:
        return await self._chats.SendMessage(requests, context)

    async def GetSend(self, request: v1.GetSendRequest, context: Any) -> v1.GetSendResponse:
        return await self._chats.GetSend(request, context)

    async def GetProfile(self, request: v1.GetProfileRequest, context: Any) -> v1.GetProfileResponse:
        return await self._chats.GetProfile(request, context)

    async def ListContacts(self, request: v1.ListContactsRequest, context: Any) -> v1.ListContactsResponse:
        return await self._chats.ListContacts(request, context)


def served(servicer: WhatsAppServicer) -> Served:
    """`servicer` with who may call what."""

    def add(server: grpc.aio.Server) -> None:
        whatsapp_service_pb2_grpc.add_WhatsAppServiceServicer_to_server(servicer, server)

    return Served(descriptor=DESCRIPTOR, add=add, allow=ALLOW)
