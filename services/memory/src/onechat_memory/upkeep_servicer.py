"""RebuildNodes, SwapLog and DeleteLog of MemoryService. Part of servicer.py's MemoryServicer."""

from typing import Any

from google.protobuf.message import Message
from onechat.memory.v1 import upkeep_pb2
from onechat_runtime.request_ids import call_body

from onechat_memory.adapters import contract_in, contract_out
from onechat_memory.domain.leases import LogId
from onechat_memory.domain.messages import Log
from onechat_memory.upkeep import Request, Upkeep


class UpkeepServicer:
    """What changes a whole log, at the service's door."""

    _upkeep: Upkeep

    async def RebuildNodes(
        self, request: upkeep_pb2.RebuildNodesRequest, context: Any
    ) -> upkeep_pb2.RebuildNodesResponse:
        given = await self._upkeep.rebuild(
            LogId(request.log_id),
            degraded=request.degraded,
            demo=request.demo,
            request=_request("RebuildNodes", request.request_id, request),
            answer=_rebuilt,
        )
        return upkeep_pb2.RebuildNodesResponse.FromString(given)

    async def SwapLog(self, request: upkeep_pb2.SwapLogRequest, context: Any) -> upkeep_pb2.SwapLogResponse:
        given = await self._upkeep.swap(
            LogId(request.log_id),
            LogId(request.staged_log_id),
            contract_in.kept_id(request.kept_log_id),
            request=_request("SwapLog", request.request_id, request),
            answer=_swapped,
        )
        return upkeep_pb2.SwapLogResponse.FromString(given)

    async def DeleteLog(
        self, request: upkeep_pb2.DeleteLogRequest, context: Any
    ) -> upkeep_pb2.DeleteLogResponse:
        await self._upkeep.delete(
            LogId(request.log_id), request=_request("DeleteLog", request.request_id, request)
        )
        return upkeep_pb2.DeleteLogResponse()


def _request(rpc: str, request_id: str, request: Message) -> Request:
    return Request(id=request_id, body=call_body(rpc, request))


def _rebuilt(nodes: int) -> bytes:
    return upkeep_pb2.RebuildNodesResponse(freed_nodes=nodes).SerializeToString()


def _swapped(log: Log) -> bytes:
    return upkeep_pb2.SwapLogResponse(log=contract_out.log_to_proto(log)).SerializeToString()
