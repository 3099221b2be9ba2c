"""CreateGroupAgent, ResetAgentLog and JudgeAddressed of AgentService. Part of servicer.py."""

from typing import Any

from onechat.agent.v1 import addressed_pb2, kept_log_pb2
from onechat.agent.v1 import agent_service_pb2 as service
from onechat_runtime.request_ids import call_body

from onechat_agent.adapters import protos
from onechat_agent.agents import Agents
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.groups import GroupRefused, new_group
from onechat_agent.errors import GroupInvalid
from onechat_agent.groups import Groups
from onechat_agent.judging import Judging
from onechat_agent.resets import Resets


class GroupServicer:
    """Groups at the service's door."""

    _agents: Agents
    _groups: Groups
    _resets: Resets
    _judging: Judging

    async def CreateGroupAgent(
        self, request: service.CreateGroupAgentRequest, context: Any
    ) -> service.CreateGroupAgentResponse:
        try:
            new = new_group(request.source, request.title)
        except GroupRefused as why:
            raise GroupInvalid(str(why)) from None
        body = call_body("CreateGroupAgent", request)
        made = await self._groups.create(new, request_id=request.request_id, body=body)
        return service.CreateGroupAgentResponse(agent=protos.agent(self._agents.find(made)))

    async def ResetAgentLog(
        self, request: kept_log_pb2.ResetAgentLogRequest, context: Any
    ) -> kept_log_pb2.ResetAgentLogResponse:
        body = call_body("ResetAgentLog", request)
        kept = await self._resets.reset(request.agent_id, request_id=request.request_id, body=body)
        return kept_log_pb2.ResetAgentLogResponse(kept_log=kept)

    async def JudgeAddressed(
        self, request: addressed_pb2.JudgeAddressedRequest, context: Any
    ) -> addressed_pb2.JudgeAddressedResponse:
        judged = await self._judging.judge(
            AgentId(request.agent_id), request.text, request.names, request.before
        )
        return addressed_pb2.JudgeAddressedResponse(
            mentions=judged.mentions, command=judged.command, private=judged.private
        )
