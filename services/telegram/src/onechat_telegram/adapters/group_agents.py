"""The agent service as group chats need it: groups/ports.Agents over a channel's stub.

Every call raises RemoteError. Deadlines are seconds.
"""

from datetime import UTC, datetime
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp
from onechat.agent.v1 import (
    addressed_pb2,
    agent_service_pb2,
    agent_service_pb2_grpc,
    delivery_pb2,
    kept_log_pb2,
)
from onechat_runtime.errors import RemoteError

from onechat_telegram.groups.domain.addressing import Judgement
from onechat_telegram.groups.domain.ids import AgentId, MessageKey, Source
from onechat_telegram.groups.ports import GroupAgent, GroupDelivery, ModelAway, Question

CREATE_S: Final = 10.0
DELIVER_S: Final = 10.0
JUDGE_S: Final = 30.0
LOOK_S: Final = 5.0
RESET_S: Final = 30.0


class GroupAgents:
    """The agents of groups, behind a stub."""

    def __init__(self, stub: agent_service_pb2_grpc.AgentServiceStub) -> None:
        self._stub = stub

    async def create(self, source: Source, title: str) -> AgentId:
        """The agent of the group; its title is what is shown of it. Idempotent by source."""
        request = agent_service_pb2.CreateGroupAgentRequest(source=source, title=title.strip() or source)
        response = await self._stub.CreateGroupAgent(request, timeout=CREATE_S)
        return AgentId(response.agent.agent_id)

    async def deliver(self, delivery: GroupDelivery) -> None:
        """Hand over; a key that is known, with whatever words, counts as done."""
        place = delivery.place
        new = delivery_pb2.NewDelivery(
            key=delivery.key,
            to=delivery.agent,
            source=delivery.source,
            kind=delivery_pb2.DELIVERY_KIND_WORK,
            text=delivery.text,
            images=delivery.images,
            time=_timestamp(delivery.time),
            wakes_root=delivery.wakes,
            reply_to=None
            if place is None
            else delivery_pb2.ReplyTo(chat=place.chat, message=place.message, topic=place.thread),
        )
        try:
            await self._stub.Deliver(agent_service_pb2.DeliverRequest(deliveries=[new]), timeout=DELIVER_S)
        except RemoteError as error:
            if error.reason != "KEY_REUSED":  # it is there, in an earlier version's words
                raise

    async def judge(self, question: Question) -> Judgement:
        """Whether a message is meant for the agent. Raises ModelAway."""
        request = addressed_pb2.JudgeAddressedRequest(
            agent_id=question.agent, text=question.text, names=question.names, before=question.before
        )
        try:
            said = await self._stub.JudgeAddressed(request, timeout=JUDGE_S)
        except RemoteError as error:
            if error.reason == "MODEL_UNAVAILABLE":
                raise ModelAway from None
            raise
        return Judgement(mentions=said.mentions, command=said.command, private=said.private)

    async def look(self, agent: AgentId) -> GroupAgent:
        """How the agent is."""
        found = await self._stub.GetAgent(agent_service_pb2.GetAgentRequest(agent=agent), timeout=LOOK_S)
        had_turn = found.agent.HasField("last_turn_time")
        last_turn: datetime | None = found.agent.last_turn_time.ToDatetime(UTC) if had_turn else None
        return GroupAgent(
            id=AgentId(found.agent.agent_id),
            name=found.agent.name,
            messages=int(found.messages),
            last_turn=last_turn,
        )

    async def reset(self, agent: AgentId, request_id: MessageKey) -> str:
        """Set the agent's log aside; the name that it is kept under."""
        request = kept_log_pb2.ResetAgentLogRequest(agent_id=agent, request_id=request_id)
        response = await self._stub.ResetAgentLog(request, timeout=RESET_S)
        return str(response.kept_log)


def _timestamp(instant: datetime) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(instant)
    return stamp
