"""The agent service, seen from the scheduler: runs go to it as deliveries. Deadlines are seconds."""

from collections.abc import Sequence
from typing import Final, Protocol

import grpc.aio
from google.protobuf.timestamp_pb2 import Timestamp
from onechat.agent.v1 import agent_service_pb2, agent_service_pb2_grpc, delivery_pb2

from onechat_scheduler.domain.schedule import Run

RUNS_MAX: Final = 256  #: of one call, by its contract
DELIVER_S: Final = 10.0


class AgentPort(Protocol):
    """Who wakes the owners of schedules."""

    async def deliver(self, runs: Sequence[Run]) -> None:
        """Hand over up to RUNS_MAX runs; all are on the agent service's disk when this returns.

        A run that it has already, in the same words, is not taken again. Raises RemoteError, KEY_REUSED for a
        run that it has in other words; then it took none of these, unless the outcome is not known.
        """


class Agent:
    """The agent service behind a channel."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = agent_service_pb2_grpc.AgentServiceStub(channel)

    async def deliver(self, runs: Sequence[Run]) -> None:
        """As AgentPort says."""
        request = agent_service_pb2.DeliverRequest(deliveries=map(_delivery, runs))
        await self._stub.Deliver(request, timeout=DELIVER_S)


def _delivery(run: Run) -> delivery_pb2.NewDelivery:
    # The same from a run's record until it is settled: the agent service compares all of it.
    due = Timestamp()
    due.FromDatetime(run.due)
    return delivery_pb2.NewDelivery(
        key=run.key,
        to=run.owner,
        source=run.source,
        kind=delivery_pb2.DELIVERY_KIND_WORK,
        text=run.text,
        time=due,
        wakes_root=True,
        backed=run.backed,
    )
