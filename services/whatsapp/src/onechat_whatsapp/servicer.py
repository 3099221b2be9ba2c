"""onechat.whatsapp.v1.WhatsAppService at its door: who may call what, and that nothing is linked.

Every call refuses with the same sentence, GetStatus too: a status of a link that cannot be made would only
look like one. That the service is there and well, health and ops.v1 say.
"""

from collections.abc import AsyncIterator
from typing import Any, Final

from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1
from onechat.whatsapp.v1 import whatsapp_service_pb2_grpc

from onechat_whatsapp.errors import LinkingNotServedYet

DESCRIPTOR: Final = v1.DESCRIPTOR.services_by_name["WhatsAppService"]
_CALLERS: Final = frozenset({"agent", "operator"})
ALLOW: Final = {method.name: _CALLERS for method in DESCRIPTOR.methods}


class WhatsAppServicer(whatsapp_service_pb2_grpc.WhatsAppServiceServicer):
    """The gateway without a link."""

    async def Pair(self, request: v1.PairRequest, context: Any) -> v1.PairResponse:
        raise LinkingNotServedYet

    async def GetStatus(self, request: v1.GetStatusRequest, context: Any) -> v1.GetStatusResponse:
        raise LinkingNotServedYet

    async def Unlink(self, request: v1.UnlinkRequest, context: Any) -> v1.UnlinkResponse:
        raise LinkingNotServedYet

    async def FindChats(self, request: v1.FindChatsRequest, context: Any) -> v1.FindChatsResponse:
        raise LinkingNotServedYet

    async def SendMessage(
        self, requests: AsyncIterator[v1.SendMessageRequest], context: Any
    ) -> v1.SendMessageResponse:
        raise LinkingNotServedYet

    async def GetSend(self, request: v1.GetSendRequest, context: Any) -> v1.GetSendResponse:
        raise LinkingNotServedYet

    async def GetProfile(self, request: v1.GetProfileRequest, context: Any) -> v1.GetProfileResponse:
        raise LinkingNotServedYet

    async def ListContacts(self, request: v1.ListContactsRequest, context: Any) -> v1.ListContactsResponse:
        raise LinkingNotServedYet
