"""The gateway to WhatsApp, as people's commands use it. Calls raise RemoteError; times are seconds."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Final, cast

from google.protobuf.timestamp_pb2 import Timestamp
from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1
from onechat.whatsapp.v1 import whatsapp_service_pb2_grpc
from onechat_runtime.channels import open_channel

from onechat_cli.adapters.links import WHATSAPP_WELL, state_name
from onechat_cli.domain.whatsapp import Link

_CALL_S: Final = 5.0


class WhatsAppClient:
    """Calls of one channel to the gateway."""

    def __init__(self, stub: "whatsapp_service_pb2_grpc.WhatsAppServiceAsyncStub") -> None:
        self._stub = stub

    @classmethod
    @asynccontextmanager
    async def connect(cls, address: str, token: str) -> AsyncIterator["WhatsAppClient"]:
        """A client; the service need not be there."""
        async with open_channel(address, token=token, name="whatsapp") as channel:
            stub = whatsapp_service_pb2_grpc.WhatsAppServiceStub(channel)
            yield cls(cast("whatsapp_service_pb2_grpc.WhatsAppServiceAsyncStub", stub))

    async def link(self) -> Link:
        """How the link to WhatsApp is."""
        found = await self._stub.GetStatus(v1.GetStatusRequest(), timeout=_CALL_S)
        return Link(
            state=state_name(v1.LinkState, found.link),
            lost=found.link not in WHATSAPP_WELL,
            since=_time(found.change_time) if found.HasField("change_time") else None,
            last_connect=_time(found.last_connect_time) if found.HasField("last_connect_time") else None,
            last_disconnect=(
                _time(found.last_disconnect_time) if found.HasField("last_disconnect_time") else None
            ),
            ban_end=_time(found.ban_end_time) if found.HasField("ban_end_time") else None,
            last_event=_time(found.last_event_time) if found.HasField("last_event_time") else None,
            batches=found.batches,
            undecryptable=found.undecryptable,
            trouble=found.trouble,
        )


def _time(stamp: Timestamp) -> datetime:
    return stamp.ToDatetime(tzinfo=UTC)
