"""RebuildNodes, SwapLog and DeleteLog of MemoryService. Part of servicer.py's MemoryServicer."""

from typing import Any

from onechat.memory.v1 import upkeep_pb2

from onechat_memory.errors import NotServedYet


class UpkeepServicer:
    """What changes a whole log, at the service's door."""

    async def RebuildNodes(
        self, request: upkeep_pb2.RebuildNodesRequest, context: Any
    ) -> upkeep_pb2.RebuildNodesResponse:
        raise NotServedYet("This version does not build nodes again: their lines stay as they are.")

    async def SwapLog(self, request: upkeep_pb2.SwapLogRequest, context: Any) -> upkeep_pb2.SwapLogResponse:
        raise NotServedYet("This version does not put a staged log in a live one's place: make a new log.")

    async def DeleteLog(
        self, request: upkeep_pb2.DeleteLogRequest, context: Any
    ) -> upkeep_pb2.DeleteLogResponse:
        raise NotServedYet("This version deletes no log: a kept one does no harm.")
