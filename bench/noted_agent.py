"""An agent service in this process that takes every delivery, keeps none, and notes when each came.

It stands for the agent where the scheduler is measured. Instants are of the wall clock, seconds since 1970,
which all processes of a machine share.
"""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from onechat.agent.v1 import agent_service_pb2, agent_service_pb2_grpc
from onechat_runtime import logs
from onechat_runtime.health import HealthBoard
from onechat_runtime.listening import Served, listening
from onechat_runtime.tokens import CALLERS, Callers

_DESCRIPTOR: Final = agent_service_pb2.DESCRIPTOR.services_by_name["AgentService"]


@dataclass(slots=True)
class NotedAgent:
    """A running one."""

    address: str = ""
    came: dict[str, float] = field(default_factory=dict)  #: when each key came first


class _Servicer(agent_service_pb2_grpc.AgentServiceServicer):
    def __init__(self, agent: NotedAgent) -> None:
        self._agent = agent

    async def Deliver(self, request: Any, context: Any) -> agent_service_pb2.DeliverResponse:
        now = time.time()
        for delivery in request.deliveries:
            self._agent.came.setdefault(delivery.key, now)
        return agent_service_pb2.DeliverResponse()


@asynccontextmanager
async def noted_agent(data: Path) -> AsyncIterator[NotedAgent]:
    """The agent on a free port, for callers with the tokens of the data folder `data`."""
    logs.configure("bench", "warning", json=False)  # a line for each call would stand among the figures
    agent, anybody = NotedAgent(), frozenset(CALLERS)
    served = Served(
        descriptor=_DESCRIPTOR,
        add=lambda server: agent_service_pb2_grpc.add_AgentServiceServicer_to_server(
            _Servicer(agent),  # type: ignore[abstract]  # gateways that are measured call Deliver alone
            server,
        ),
        allow={method.name: anybody for method in _DESCRIPTOR.methods},
    )
    async with listening(
        name="agent",
        address="127.0.0.1:0",
        services=[served],
        board=HealthBoard(),
        callers=Callers.from_file(data / "tokens" / "callers.json"),
        schema=0,
        started=datetime.now(UTC),
        pages=False,
    ) as opened:
        agent.address = opened.address
        yield agent
