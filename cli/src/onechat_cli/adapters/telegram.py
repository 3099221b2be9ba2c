"""The bot's groups, as people's commands use them. Calls raise RemoteError; times are seconds."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, cast

from onechat.telegram.v1 import telegram_service_pb2 as v1
from onechat.telegram.v1 import telegram_service_pb2_grpc
from onechat_runtime.channels import open_channel

from onechat_cli.adapters.links import state_name
from onechat_cli.domain.groups import Group
from onechat_cli.domain.safe_text import sendable

_CALL_S: Final = 5.0
_ASKING_OTHERS_S: Final = 30.0  # for calls that need Telegram or the agent service
_PAGE: Final = 1_000
_PREFIX: Final = "DETECTOR_"
_NUMBERED: Final = "detector "  # one of a newer service, by its number


class TelegramClient:
    """Calls of one channel to the telegram service."""

    def __init__(self, stub: "telegram_service_pb2_grpc.TelegramServiceAsyncStub") -> None:
        self._stub = stub

    @classmethod
    @asynccontextmanager
    async def connect(cls, address: str, token: str) -> AsyncIterator["TelegramClient"]:
        """A client; the service need not be there."""
        async with open_channel(address, token=token, name="telegram") as channel:
            stub = telegram_service_pb2_grpc.TelegramServiceStub(channel)
            yield cls(cast("telegram_service_pb2_grpc.TelegramServiceAsyncStub", stub))

    async def link(self) -> str:
        """How the link to Telegram is, such as "no token" or "connected"."""
        status = await self._stub.GetStatus(v1.GetStatusRequest(), timeout=_CALL_S)
        return state_name(v1.LinkState, status.link)

    async def groups(self) -> list[Group]:
        """The groups that the bot is in, by number."""
        found: list[Group] = []
        request = v1.ListGroupsRequest(page_size=_PAGE)
        while True:
            page = await self._stub.ListGroups(request, timeout=_CALL_S)
            found += map(_group, page.groups)
            if not page.next_page_token:
                return sorted(found, key=lambda group: group.chat)
            request.page_token = page.next_page_token

    async def admit(self, chat: int, *, request_id: str) -> Group:
        """Have a group served; RemoteError GROUP_UNKNOWN when the bot is in no such one."""
        request = v1.AdmitGroupRequest(chat_id=chat, request_id=request_id)
        return _group((await self._stub.AdmitGroup(request, timeout=_ASKING_OTHERS_S)).group)

    async def set(self, group: Group, *, request_id: str) -> Group:
        """Set a group as `group` is; RemoteError GROUP_UNKNOWN, and SETTING_INVALID for what cannot be."""
        wanted = v1.Group(
            chat_id=group.chat,
            detector=_detector(group.detector),
            names=map(sendable, group.names),
            ask_model=group.ask_model,
            learn=group.learn,
            private_chats=group.private_chats,
        )
        request = v1.SetGroupRequest(group=wanted, request_id=request_id)
        return _group((await self._stub.SetGroup(request, timeout=_CALL_S)).group)

    async def remove(self, chat: int, *, request_id: str) -> None:
        """Leave a group; RemoteError GROUP_UNKNOWN for one that the bot never was in."""
        request = v1.RemoveGroupRequest(chat_id=chat, request_id=request_id)
        await self._stub.RemoveGroup(request, timeout=_ASKING_OTHERS_S)


def _group(one: v1.Group) -> Group:
    return Group(
        chat=one.chat_id,
        title=one.title,
        admitted=one.admitted,
        detector=_detector_name(one.detector),
        names=tuple(one.names),
        ask_model=one.ask_model,
        learn=one.learn,
        private_chats=one.private_chats,
        agent=one.agent_id,
    )


def _detector_name(detector: int) -> str:
    if detector not in v1.Detector.values():
        return f"{_NUMBERED}{detector}"
    return v1.Detector.Name(cast("v1.Detector", detector)).removeprefix(_PREFIX).lower()


def _detector(name: str) -> "v1.Detector":
    if name.startswith(_NUMBERED):
        number = int(name.removeprefix(_NUMBERED))
    else:
        number = v1.Detector.Value(_PREFIX + name.upper())
    return cast("v1.Detector", number)
