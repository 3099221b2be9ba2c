"""The agent service's double with agents of groups: made once for each source, judging, looked at, reset.

What a group's agent answers goes to its group: `answer_all` has it reply to whatever starts a turn. The rest
is agent_servicer.py's.
"""

from dataclasses import dataclass, field
from typing import Any

import grpc
from onechat.agent.v1 import addressed_pb2, delivery_pb2, event_pb2, kept_log_pb2
from onechat.agent.v1 import agent_service_pb2 as service
from onechat_runtime.errors import ServiceError

from tests.fakes.agent_servicer import AgentServicer


class ModelUnavailable(ServiceError):
    """The model could not be reached."""

    code, reason = grpc.StatusCode.UNAVAILABLE, "MODEL_UNAVAILABLE"


class AgentUnknown(ServiceError):
    """There is no such agent."""

    code, reason = grpc.StatusCode.NOT_FOUND, "AGENT_UNKNOWN"


class DeliveryInvalid(ServiceError):
    """The agent of a group takes what is of its own group and of its members, and nobody else does."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "DELIVERY_INVALID"


@dataclass(kw_only=True)
class GroupsAgentServicer(AgentServicer):
    """The agent service's state, groups included."""

    groups: dict[str, service.Agent] = field(default_factory=dict)  #: by source
    logs: dict[str, list[delivery_pb2.NewDelivery]] = field(default_factory=dict)  #: by agent, since a reset
    kept: dict[str, list[delivery_pb2.NewDelivery]] = field(default_factory=dict)  #: by name
    resets: dict[str, str] = field(default_factory=dict)  #: the kept log's name by request id
    judged: list[addressed_pb2.JudgeAddressedRequest] = field(default_factory=list)
    meant: tuple[str, ...] = ()  #: texts that the model takes as meant for the agent
    model_away: bool = False
    answer_all: str = ""  #: what every addressed message is answered with at once; empty for nothing

    async def CreateGroupAgent(self, request: Any, context: Any) -> service.CreateGroupAgentResponse:
        await self._called("CreateGroupAgent")
        if request.source not in self.groups:
            number = len(self.groups) + 1
            agent = service.Agent(
                agent_id=f"group-{number}", name=f"Group{number}", role=service.AGENT_ROLE_GROUP
            )
            self.groups[request.source], self.logs[agent.agent_id] = agent, []
        self.groups[request.source].area = request.title
        return service.CreateGroupAgentResponse(agent=self.groups[request.source])

    async def Deliver(self, request: Any, context: Any) -> service.DeliverResponse:
        new = [one for one in request.deliveries if one.key not in self.deliveries]
        if not all(map(self._finds_its_agent, new)):
            raise DeliveryInvalid
        response = await super().Deliver(request, context)
        for one in new:
            if one.to in self.logs:
                self.logs[one.to].append(one)
                if one.wakes_root and self.answer_all:
                    await self.answer(one, self.answer_all)
        return response

    async def JudgeAddressed(self, request: Any, context: Any) -> addressed_pb2.JudgeAddressedResponse:
        await self._called("JudgeAddressed")
        self.judged.append(request)
        if self.model_away:
            raise ModelUnavailable
        return addressed_pb2.JudgeAddressedResponse(mentions=request.text in self.meant)

    async def GetAgent(self, request: Any, context: Any) -> service.GetAgentResponse:
        await self._called("GetAgent")
        agent = self._agent(request.agent)
        return service.GetAgentResponse(agent=agent, messages=len(self.logs[agent.agent_id]))

    async def ResetAgentLog(self, request: Any, context: Any) -> kept_log_pb2.ResetAgentLogResponse:
        await self._called("ResetAgentLog")
        agent = self._agent(request.agent_id)
        if request.request_id not in self.resets:
            name = self.resets[request.request_id] = f"kept-{len(self.resets) + 1}"
            self.kept[name], self.logs[agent.agent_id] = self.logs[agent.agent_id], []
        return kept_log_pb2.ResetAgentLogResponse(kept_log=self.resets[request.request_id])

    async def answer(self, delivery: delivery_pb2.NewDelivery, text: str) -> None:
        """The group's agent ends the turn that `delivery` began with `text`."""
        source, agent = next((s, a) for s, a in self.groups.items() if a.agent_id == delivery.to)
        answered = event_pb2.Answered(key=delivery.key, reply_to=delivery.reply_to)
        reply = event_pb2.Reply(text=text, answered=[answered])
        await self.tell(
            reply=reply, agent_id=agent.agent_id, agent=agent.name, audience=source, turn=f"t:{delivery.key}"
        )

    def _finds_its_agent(self, delivery: delivery_pb2.NewDelivery) -> bool:
        if not delivery.source.startswith("telegram:"):
            return True
        group = self.groups.get(delivery.source)
        return delivery.to in self.logs if group is None else delivery.to == group.agent_id

    def _agent(self, wanted: str) -> service.Agent:
        for agent in self.groups.values():
            if wanted in (agent.agent_id, agent.name):
                return agent
        raise AgentUnknown
