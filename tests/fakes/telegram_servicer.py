"""A telegram service on loopback that keeps its promises on groups, and talks to nobody.

Groups come by `add`, as if the owner had put the bot into one. `link` says how Telegram is: without a token
there is no bot, and while it cannot be reached no group is left. It passes what the real service passes:
tests/contract/test_telegram_groups_alike.py.
"""

import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import grpc
from google.protobuf.message import Message
from onechat.telegram.v1 import telegram_service_pb2 as v1
from onechat.telegram.v1 import telegram_service_pb2_grpc
from onechat_runtime.errors import BadPage, BadRequestId, KeyReused, ServiceError
from onechat_runtime.listening import Served

from tests.fakes.loopback import Loopback, serving

HANDLE: Final = "robobot"
NAMES_MAX: Final = 20
NAME_MAX: Final = 60
_DESCRIPTOR: Final = v1.DESCRIPTOR.services_by_name["TelegramService"]


class GroupUnknown(ServiceError):
    """There is no such group."""

    code, reason = grpc.StatusCode.NOT_FOUND, "GROUP_UNKNOWN"


class SettingInvalid(ServiceError):
    """This setting cannot be."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "SETTING_INVALID"


class NoToken(ServiceError):
    """There is no bot."""

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "NO_TOKEN"


class NotConnected(ServiceError):
    """Telegram is away."""

    code, reason = grpc.StatusCode.UNAVAILABLE, "NOT_CONNECTED"


@dataclass(kw_only=True)
class TelegramServicer(telegram_service_pb2_grpc.TelegramServiceServicer):
    """The service's groups."""

    link: Any = v1.LINK_STATE_CONNECTED
    groups: dict[int, v1.Group] = field(default_factory=dict)  #: by id, also those that were left
    left: set[int] = field(default_factory=set)
    calls: Counter[str] = field(default_factory=Counter)  #: by method, failed ones too
    before: dict[str, Callable[[], None]] = field(default_factory=dict)  #: by method: called first, once
    _first: dict[str, tuple[bytes, Message]] = field(default_factory=dict)  # by request id: body, answer

    def add(self, chat: int, title: str, **about: Any) -> None:
        """The owner puts the bot into a group, which awaits their yes."""
        new = v1.Group(
            chat_id=chat,
            title=title,
            detector=v1.DETECTOR_SIMPLE,
            names=[f"@{HANDLE}", "Robo"],
            ask_model=True,
            learn=True,
            private_chats=True,
        )
        new.MergeFrom(v1.Group(**about))
        self.groups.setdefault(chat, new)
        self.left.discard(chat)

    async def GetStatus(self, request: Any, context: Any) -> v1.GetStatusResponse:
        return v1.GetStatusResponse(link=self.link, paired=True)

    async def ListGroups(self, request: Any, context: Any) -> v1.ListGroupsResponse:
        self._come("ListGroups")
        if request.page_size < 0 or (request.page_token and not request.page_token.isdecimal()):
            raise BadPage
        inside = [] if self._has_no_bot else [self.groups[chat] for chat in self._inside()]
        start, size = int(request.page_token or 0), min(request.page_size or 100, 1_000)
        more = len(inside) > start + size
        return v1.ListGroupsResponse(
            groups=inside[start : start + size], next_page_token=str(start + size) if more else ""
        )

    async def AdmitGroup(self, request: Any, context: Any) -> v1.AdmitGroupResponse:
        def admit() -> v1.AdmitGroupResponse:
            group = self._group(request.chat_id)
            group.admitted = True
            group.agent_id = group.agent_id or f"agent-of{group.chat_id}"
            return v1.AdmitGroupResponse(group=group)

        return self._once("AdmitGroup", request, admit)

    async def SetGroup(self, request: Any, context: Any) -> v1.SetGroupResponse:
        def change() -> v1.SetGroupResponse:
            wanted = request.group
            if wanted.detector not in v1.Detector.values()[1:] or not _can_be(wanted.names):
                raise SettingInvalid
            group = self._group(wanted.chat_id)
            del group.names[:]
            group.names.extend(wanted.names)
            group.detector, group.ask_model = wanted.detector, wanted.ask_model
            group.learn, group.private_chats = wanted.learn, wanted.private_chats
            return v1.SetGroupResponse(group=group)

        return self._once("SetGroup", request, change)

    async def RemoveGroup(self, request: Any, context: Any) -> v1.RemoveGroupResponse:
        def remove() -> v1.RemoveGroupResponse:
            if request.chat_id not in self.groups:
                raise GroupUnknown
            if request.chat_id not in self.left and self.link == v1.LINK_STATE_UNREACHABLE:
                raise NotConnected
            self.groups[request.chat_id].admitted = False
            self.left.add(request.chat_id)
            return v1.RemoveGroupResponse()

        return self._once("RemoveGroup", request, remove)

    @property
    def _has_no_bot(self) -> bool:
        return bool(self.link == v1.LINK_STATE_NO_TOKEN)

    def _inside(self) -> list[int]:
        return sorted(self.groups.keys() - self.left)

    def _group(self, chat: int) -> v1.Group:
        if chat not in self._inside():
            raise GroupUnknown
        return self.groups[chat]

    def _once(self, method: str, request: Any, act: Callable[[], Any]) -> Any:
        """What `act` gives, once for the same request id."""
        self._come(method)
        body = method.encode() + request.SerializeToString(deterministic=True)
        if len(request.request_id) > 200 or not request.request_id.isascii():
            raise BadRequestId
        if request.request_id in self._first:
            first, answer = self._first[request.request_id]
            if first != body:
                raise KeyReused
            return answer
        if self._has_no_bot:
            raise NoToken
        answer = act()
        if request.request_id:
            self._first[request.request_id] = (body, answer)
        return answer

    def _come(self, method: str) -> None:
        self.calls[method] += 1
        self.before.pop(method, lambda: None)()


def served(telegram: TelegramServicer) -> Served:
    """`telegram` for whom it serves."""
    operator = frozenset({"operator"})
    return Served(
        descriptor=_DESCRIPTOR,
        add=lambda server: telegram_service_pb2_grpc.add_TelegramServiceServicer_to_server(telegram, server),
        allow={method.name: operator for method in _DESCRIPTOR.methods} | {"GetStatus": operator | {"agent"}},
    )


@asynccontextmanager
async def telegram_serving(telegram: TelegramServicer) -> AsyncIterator[Loopback]:
    """Serve `telegram` on loopback."""
    async with serving(served(telegram), name="telegram") as loopback:
        yield loopback


def _can_be(names: Any) -> bool:
    return len(names) <= NAMES_MAX and all(
        len(name) <= NAME_MAX and name.split() and all(re.search(r"[^\W_]", word) for word in name.split())
        for name in names
    )
