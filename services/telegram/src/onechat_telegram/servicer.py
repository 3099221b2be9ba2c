"""The contract onechat.telegram.v1: the link's status, and who may call what. Groups: group_servicer.py."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

import grpc.aio
from google.protobuf.timestamp_pb2 import Timestamp
from onechat.telegram.v1 import telegram_service_pb2, telegram_service_pb2_grpc
from onechat_runtime.clock import Clock
from onechat_runtime.listening import Served
from onechat_runtime.outbox import Outbox
from onechat_runtime.store import Store
from onechat_runtime.tokens import current_caller

from onechat_telegram.adapters import piece_store
from onechat_telegram.domain.link import LinkState
from onechat_telegram.group_servicer import GroupServicer
from onechat_telegram.groups.wiring import GroupChats
from onechat_telegram.link import Link
from onechat_telegram.ownership import Ownership

_GIVEN_UP_SHOWN: Final = timedelta(days=7)
_GROUPS: Final = ("ListGroups", "AdmitGroup", "SetGroup", "RemoveGroup")
ALLOW: Final[Mapping[str, frozenset[str]]] = {
    "GetStatus": frozenset({"operator", "agent"}),
    **dict.fromkeys(_GROUPS, frozenset({"operator"})),
}


class TelegramServicer(GroupServicer, telegram_service_pb2_grpc.TelegramServiceServicer):
    """Answers from what the rooms know."""

    def __init__(
        self,
        store: Store,
        inbox: Outbox | None,
        link: Link,
        ownership: Ownership,
        clock: Clock,
        groups: GroupChats | None,
    ) -> None:
        """`inbox` and `groups` are None without a bot."""
        GroupServicer.__init__(self, store, groups.admission if groups else None, clock)
        self._inbox = inbox
        self._link = link
        self._ownership = ownership

    async def GetStatus(self, request: Any, context: Any) -> telegram_service_pb2.GetStatusResponse:
        since = self._clock.now() - _GIVEN_UP_SHOWN
        given_up = self._store.read(lambda db: piece_store.given_up(db, since))
        has_bot = self._link.state is not LinkState.NO_TOKEN
        response = telegram_service_pb2.GetStatusResponse(
            link=f"LINK_STATE_{self._link.state.upper()}",
            bot=self._link.bot,
            paired=self._ownership.owner is not None,
            pairing_code=self._ownership.code if has_bot and current_caller() == "operator" else "",
            inbox=self._inbox.waiting() if self._inbox else 0,
            outbox=self._store.read(piece_store.waiting),
            set_aside=given_up + (len(self._inbox.set_aside()) if self._inbox else 0),
        )
        if self._link.last_answer is not None:
            stamp = Timestamp()
            stamp.FromDatetime(self._link.last_answer)
            response.last_answer_time.CopyFrom(stamp)
        return response


def served(servicer: TelegramServicer) -> Served:
    """`servicer` with who may call what."""

    def add(server: grpc.aio.Server) -> None:
        telegram_service_pb2_grpc.add_TelegramServiceServicer_to_server(servicer, server)

    return Served(
        descriptor=telegram_service_pb2.DESCRIPTOR.services_by_name["TelegramService"], add=add, allow=ALLOW
    )
