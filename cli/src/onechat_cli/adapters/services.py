"""What the services say of themselves: health, ops.v1, links, agents, memory. Times are seconds."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import grpc
import grpc.aio
from google.protobuf.timestamp_pb2 import Timestamp
from grpc_health.v1 import health_pb2, health_pb2_grpc
from onechat.agent.v1 import agent_service_pb2, agent_service_pb2_grpc
from onechat.memory.v1 import memory_service_pb2_grpc, stats_pb2
from onechat.ops.v1 import ops_service_pb2, ops_service_pb2_grpc
from onechat_runtime.channels import open_channel
from onechat_runtime.errors import RemoteError, retriable

from onechat_cli.adapters.links import telegram_link, whatsapp_link
from onechat_cli.domain.report import AgentReport, LinkReport, MemoryReport, Report, ServiceReport, State

_READ_S: Final = 5.0
_PAGE: Final = 1000


async def report(addresses: Mapping[str, str], token: str) -> Report:
    """What every service at `addresses` (by name) says, asked side by side; one that is away is no error."""
    parts = await asyncio.gather(*(_ask(name, address, token) for name, address in addresses.items()))
    services = tuple(one for part in parts for one in part.services)
    serving = {service.name for service in services if service.state is State.SERVING}
    nothing = all(service.state is State.AWAY for service in services)
    return Report(
        services=services,
        links=tuple(one for part in parts for one in part.links),
        agents=tuple(one for part in parts for one in part.agents),
        faults=tuple(one for part in parts for one in part.faults),
        memory=await _memory(addresses, token) if {"agent", "memory"} <= serving else None,
        hint="No service runs: start them with `onechat up`, or `make run`." if nothing else "",
    )


async def _ask(name: str, address: str, token: str) -> Report:
    """One service's part of the report."""
    async with open_channel(address, token=token, name=name) as channel:
        service = await _service(name, address, channel)
        if service.state is not State.SERVING:
            return Report(services=(service,))
        links: tuple[LinkReport, ...] = ()
        agents: tuple[AgentReport, ...] = ()
        try:
            if name == "telegram":
                links = (await telegram_link(channel),)
            elif name == "whatsapp":
                links = (await whatsapp_link(channel),)
            elif name == "agent":
                agents = await _agents(channel)
        except RemoteError as error:
            return Report(services=(service,), faults=(f"{name}: {error.message or error.code.name}",))
        return Report(services=(service,), links=links, agents=agents)


async def _service(name: str, address: str, channel: grpc.aio.Channel) -> ServiceReport:
    health: Any = health_pb2_grpc.HealthStub(channel)
    ops: Any = ops_service_pb2_grpc.SnapshotServiceStub(channel)
    try:
        checked = await health.Check(health_pb2.HealthCheckRequest(), timeout=_READ_S)
        if checked.status != health_pb2.HealthCheckResponse.SERVING:
            return ServiceReport(name=name, address=address, state=State.ENDING)
        info = await ops.GetInfo(ops_service_pb2.GetInfoRequest(), timeout=_READ_S)
    except RemoteError as error:
        refused = error.reason != "" or not retriable(error.code)
        state = State.REFUSING if refused else State.AWAY
        return ServiceReport(name=name, address=address, state=state, fault=error.message or error.code.name)
    return ServiceReport(
        name=name,
        address=address,
        state=State.SERVING,
        version=info.version,
        schema=info.schema,
        start_time=_time(info.start_time) if info.HasField("start_time") else None,
        missing=tuple(one.service for one in info.neighbours if not one.serving),
        troubles=tuple(one.sentence for one in info.troubles),
        remarks=tuple(info.remarks),
    )


async def _agents(channel: grpc.aio.Channel) -> tuple[AgentReport, ...]:
    stub: Any = agent_service_pb2_grpc.AgentServiceStub(channel)
    found: list[AgentReport] = []
    request = agent_service_pb2.ListAgentsRequest(page_size=_PAGE)
    while True:
        page = await stub.ListAgents(request, timeout=_READ_S)
        found += [_agent(one) for one in page.agents]
        if not page.next_page_token:
            return tuple(found)
        request.page_token = page.next_page_token


def _agent(agent: agent_service_pb2.Agent) -> AgentReport:
    roles = agent_service_pb2.AgentRole
    role = roles.Name(agent.role) if agent.role in roles.values() else "AGENT_ROLE_OTHER"
    return AgentReport(
        name=agent.name,
        role=role.removeprefix("AGENT_ROLE_").lower(),
        doing=agent.doing,
        waiting=agent.waiting,
        model=agent.model,
        effort=agent.effort,
        last_turn_time=_time(agent.last_turn_time) if agent.HasField("last_turn_time") else None,
    )


async def _memory(addresses: Mapping[str, str], token: str) -> MemoryReport | None:
    """The root's log; None where the agent or the memory service does not say."""
    async with (
        open_channel(addresses["agent"], token=token, name="agent") as to_agent,
        open_channel(addresses["memory"], token=token, name="memory") as to_memory,
    ):
        agents: Any = agent_service_pb2_grpc.AgentServiceStub(to_agent)
        memory: Any = memory_service_pb2_grpc.MemoryServiceStub(to_memory)
        root = await _or_none(agents.GetAgent(agent_service_pb2.GetAgentRequest(), timeout=_READ_S))
        if root is None:
            return None
        request = stats_pb2.GetLogStatsRequest(log_id=root.agent.agent_id)
        stats = await _or_none(memory.GetLogStats(request, timeout=_READ_S))
    if stats is None:
        return None
    return MemoryReport(
        messages=stats.log.length,
        view_lines=stats.view_lines,
        view_bytes=stats.view_bytes,
        unbuilt_leaves=stats.unbuilt_leaves,
        failing_nodes=stats.failing_nodes,
    )


async def _or_none(call: Any) -> Any:
    """The answer to `call`; None for an error."""
    try:
        return await call
    except RemoteError:
        return None


def _time(stamp: Timestamp) -> datetime:
    return stamp.ToDatetime(tzinfo=UTC)
