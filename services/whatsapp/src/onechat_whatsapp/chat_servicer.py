"""The calls of WhatsAppService about chats: finding them, sending to them. Part of servicer.py's servicer."""

from collections.abc import AsyncIterator
from typing import Any, Final

from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1

from onechat_whatsapp.adapters import chat_contract
from onechat_whatsapp.directory import Directory
from onechat_whatsapp.errors import NamesNotReady, NotConnected
from onechat_whatsapp.finding import Finding
from onechat_whatsapp.sending import Sending
from onechat_whatsapp.wire.ports import SessionUnreadable

HELD: Final = "The WhatsApp session cannot be read just now: another program holds its file. Try again later."


class ChatServicer:
    """Chats at the service's door."""

    def __init__(self, directory: Directory, finding: Finding, sending: Sending) -> None:
        self._directory = directory
        self._finding = finding
        self._sending = sending

    async def FindChats(self, request: v1.FindChatsRequest, context: Any) -> v1.FindChatsResponse:
        start, count = chat_contract.found_place(request)
        try:
            page = await self._finding.find(request.name, start=start, count=count)
        except SessionUnreadable as error:
            raise NamesNotReady(HELD) from error
        return chat_contract.found_page(page.chats, start, more=page.more, groups_missing=page.groups_missing)

    async def SendMessage(
        self, requests: AsyncIterator[v1.SendMessageRequest], context: Any
    ) -> v1.SendMessageResponse:
        asked = await chat_contract.asked_send(requests)
        try:
            answer = await self._sending.send(asked.request_id, asked.message, asked.image_fault)
        except SessionUnreadable as error:  # it is read before anything is sent, and not after
            raise NotConnected(f"Nothing was sent. {HELD}") from error
        send = chat_contract.send_to_proto(answer.record)
        return v1.SendMessageResponse(send=send, other_message=answer.other_message)

    async def GetSend(self, request: v1.GetSendRequest, context: Any) -> v1.GetSendResponse:
        record = self._sending.record(request.request_id)
        return v1.GetSendResponse(send=chat_contract.send_to_proto(record))

    async def GetProfile(self, request: v1.GetProfileRequest, context: Any) -> v1.GetProfileResponse:
        return v1.GetProfileResponse(name=await self._directory.profile_name())

    async def ListContacts(self, request: v1.ListContactsRequest, context: Any) -> v1.ListContactsResponse:
        after, count = chat_contract.contacts_place(request)
        page = await self._finding.contacts(after=after, count=count)
        return chat_contract.contacts_page(page.chats, more=page.more)
