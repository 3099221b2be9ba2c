"""The calls of agent.v1.AgentService that are in the contract and not served yet."""

from collections.abc import AsyncIterator
from typing import Any, Final

from onechat.agent.v1 import agent_service_pb2_grpc, import_pb2, kept_log_pb2
from onechat_runtime.errors import NotServedYet

_LATER: Final = "comes with a later version of onechat. Nothing was changed."


class LaterServicer(agent_service_pb2_grpc.AgentServiceServicer):
    """Answers them with UNIMPLEMENTED and a sentence."""

    async def PlanImport(self, request_iterator: Any, context: Any) -> import_pb2.PlanImportResponse:
        raise NotServedYet(f"Importing {_LATER}")

    async def RunImport(
        self, request_iterator: Any, context: Any
    ) -> AsyncIterator[import_pb2.RunImportResponse]:
        raise NotServedYet(f"Importing {_LATER}")
        yield  # what makes this a stream

    async def ListKeptLogs(
        self, request: kept_log_pb2.ListKeptLogsRequest, context: Any
    ) -> kept_log_pb2.ListKeptLogsResponse:
        raise NotServedYet(f"Kept logs {_LATER}")

    async def RestoreKeptLog(
        self, request: kept_log_pb2.RestoreKeptLogRequest, context: Any
    ) -> kept_log_pb2.RestoreKeptLogResponse:
        raise NotServedYet(f"Kept logs {_LATER}")

    async def DeleteKeptLog(
        self, request: kept_log_pb2.DeleteKeptLogRequest, context: Any
    ) -> kept_log_pb2.DeleteKeptLogResponse:
        raise NotServedYet(f"Kept logs {_LATER}")
