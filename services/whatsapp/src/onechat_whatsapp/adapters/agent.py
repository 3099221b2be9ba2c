"""The agent service, seen from the gateway: hand batches over, and tell the user something.

Every call raises RemoteError. Deadlines are seconds.
"""

from collections.abc import Sequence
from typing import Final

import grpc.aio
from onechat.agent.v1 import agent_service_pb2, agent_service_pb2_grpc, delivery_pb2

from onechat_whatsapp.domain.batches import Batch, Group
from onechat_whatsapp.domain.ids import source_of

DELIVER_S: Final = 10.0
TELL_S: Final = 5.0


class Agent:
    """The agent service behind a channel."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = agent_service_pb2_grpc.AgentServiceStub(channel)

    async def deliver(self, batches: Sequence[Batch], group: Group | None) -> None:
        """Hand over 1 to 256 batches; once this returns, the agent has them all on its disk.

        On any error that says what became of them, it has none of them from this call. The user stands behind
        none of them. Batches that it has already with the same words and `group` stay as they were; else it
        refuses with the reason KEY_REUSED.
        """
        request = agent_service_pb2.DeliverRequest(deliveries=[_delivery(batch, group) for batch in batches])
        await self._stub.Deliver(request, timeout=DELIVER_S)

    async def tell_user(self, key: str, text: str) -> None:
        """Show `text` to the user in every client, without a turn; a known `key` tells nothing again.

        `key`: up to 200 ASCII characters. `text`: up to 2,000 characters.
        """
        request = agent_service_pb2.TellUserRequest(key=key, text=text)
        await self._stub.TellUser(request, timeout=TELL_S)


def _delivery(batch: Batch, group: Group | None) -> delivery_pb2.NewDelivery:
    return delivery_pb2.NewDelivery(
        key=batch.key,
        source=source_of(batch.chat),
        former_source=source_of(batch.other) if batch.other else "",
        kind=delivery_pb2.DELIVERY_KIND_WORK,
        text=batch.text,
        time=batch.written,
        wakes_root=batch.wakes,
        backed=False,
        group=group.id if group else "",
        group_count=group.count if group else 0,
    )
