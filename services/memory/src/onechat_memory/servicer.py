"""onechat.memory.v1.MemoryService: proto to domain to proto. No rule and no SQL lives here.

Calls about images, search and upkeep: image_servicer.py, search_servicer.py, upkeep_servicer.py. Who may call
what: ALLOW. How nouns translate: adapters/contract_in.py, contract_out.py.
"""

from collections.abc import AsyncIterator
from typing import Any, Final

from onechat.memory.v1 import memory_service_pb2, memory_service_pb2_grpc, stats_pb2

from onechat_memory.adapters import contract_in, contract_out
from onechat_memory.chat_logs import ChatLogs
from onechat_memory.compactions import Compactions
from onechat_memory.domain.costs import Asked
from onechat_memory.domain.leases import OUT_MAX, LeaseId, LogId
from onechat_memory.domain.tree import Node, node_at
from onechat_memory.errors import CauseMissing, NodeUnknown
from onechat_memory.image_servicer import ImageServicer
from onechat_memory.images import Images
from onechat_memory.reading import Reading
from onechat_memory.search_servicer import SearchServicer
from onechat_memory.searching import Searching
from onechat_memory.upkeep import Upkeep
from onechat_memory.upkeep_servicer import UpkeepServicer
from onechat_memory.views import WaitedViews

DESCRIPTOR: Final = memory_service_pb2.DESCRIPTOR.services_by_name["MemoryService"]
_CALLERS: Final = frozenset({"agent", "operator"})
ALLOW: Final = {method.name: _CALLERS for method in DESCRIPTOR.methods}
WAITS: Final = frozenset({"GetView", "LeaseCompactions"})  #: may wait long, and end when the service does
#: s, of a call without a deadline
CAPS: Final = dict.fromkeys(WAITS, contract_in.WAIT_MAX_S + 10) | {"PutImage": 60.0, "GetImage": 60.0}


class MemoryServicer(
    ImageServicer, SearchServicer, UpkeepServicer, memory_service_pb2_grpc.MemoryServiceServicer
):
    """The memory service at its door; images, search and upkeep have files of their own."""

    def __init__(
        self,
        *,
        logs: ChatLogs,
        views: WaitedViews,
        compactions: Compactions,
        reading: Reading,
        images: Images,
        upkeep: Upkeep,
        searching: Searching,
    ) -> None:
        self._logs = logs
        self._views = views
        self._compactions = compactions
        self._reading = reading
        self._images = images
        self._upkeep = upkeep
        self._searching = searching

    async def CreateLog(
        self, request: memory_service_pb2.CreateLogRequest, context: Any
    ) -> memory_service_pb2.CreateLogResponse:
        log = await self._logs.create(contract_in.new_log(request))
        return memory_service_pb2.CreateLogResponse(log=contract_out.log_to_proto(log))

    async def ListLogs(
        self, request: memory_service_pb2.ListLogsRequest, context: Any
    ) -> memory_service_pb2.ListLogsResponse:
        size = contract_in.page_size(
            request.page_size, default=contract_in.LOGS_DEFAULT, most=contract_in.LOGS_MAX
        )
        # A page's token is the last id before it.
        logs = self._reading.logs(contract_in.logs_token(request.page_token), size + 1)
        more = len(logs) > size
        return memory_service_pb2.ListLogsResponse(
            logs=map(contract_out.log_to_proto, logs[:size]),
            next_page_token=logs[size - 1].asked.id if more else "",
        )

    async def GetLogStats(
        self, request: stats_pb2.GetLogStatsRequest, context: Any
    ) -> stats_pb2.GetLogStatsResponse:
        return contract_out.stats_to_proto(self._reading.stats(LogId(request.log_id)))

    async def AppendMessages(
        self, request: memory_service_pb2.AppendMessagesRequest, context: Any
    ) -> memory_service_pb2.AppendMessagesResponse:
        messages = contract_in.new_messages(request.messages)
        made = await self._logs.append(LogId(request.log_id), messages)
        return memory_service_pb2.AppendMessagesResponse(
            appended=[
                memory_service_pb2.AppendedMessage(first_id=one.first, count=one.count, known=one.known)
                for one in made.appended
            ],
            length=made.length,
            generation=made.generation,
        )

    async def GetView(
        self, request: memory_service_pb2.GetViewRequest, context: Any
    ) -> memory_service_pb2.GetViewResponse:
        shown = await self._views.view(LogId(request.log_id), contract_in.wait_s(request.wait))
        return memory_service_pb2.GetViewResponse(
            text=shown.text,
            length=shown.length,
            generation=shown.generation,
            whole=shown.whole,
            unbuilt_lines=shown.unbuilt,
            lines=shown.lines,
            bytes=shown.size,
        )

    async def Zoom(
        self, request: memory_service_pb2.ZoomRequest, context: Any
    ) -> memory_service_pb2.ZoomResponse:
        start = request.page_id if request.HasField("page_id") else None
        found = self._reading.zoom(LogId(request.log_id), request.first_id, request.count, start)
        return memory_service_pb2.ZoomResponse(
            lines=[contract_out.line_to_proto(node, text) for node, text in found.lines],
            messages=map(contract_out.message_to_proto, found.messages),
            next_page_id=found.next_id,
        )

    async def GetMessageTime(
        self, request: memory_service_pb2.GetMessageTimeRequest, context: Any
    ) -> memory_service_pb2.GetMessageTimeResponse:
        body = self._reading.message(LogId(request.log_id), request.id).body
        return memory_service_pb2.GetMessageTimeResponse(
            time=contract_out.timestamp(body.time), zone=body.zone
        )

    async def ListMessages(
        self, request: memory_service_pb2.ListMessagesRequest, context: Any
    ) -> AsyncIterator[memory_service_pb2.ListMessagesResponse]:
        asked = request.end_id if request.HasField("end_id") else None
        number, end = self._reading.range_end(LogId(request.log_id), request.start_id, asked)
        start = request.start_id
        while start < end:
            messages = self._reading.chunk(number, start, end)
            yield memory_service_pb2.ListMessagesResponse(
                messages=map(contract_out.message_to_proto, messages)
            )
            start += len(messages)

    async def LeaseCompactions(
        self, request: memory_service_pb2.LeaseCompactionsRequest, context: Any
    ) -> memory_service_pb2.LeaseCompactionsResponse:
        holder = contract_in.holder_name(request.holder)
        most = max(1, min(request.max_pieces or OUT_MAX, OUT_MAX))
        leased = await self._compactions.lease(holder, most, contract_in.wait_s(request.wait))
        if leased is None:
            return memory_service_pb2.LeaseCompactionsResponse()
        return memory_service_pb2.LeaseCompactionsResponse(
            pieces=[
                memory_service_pb2.CompactionPiece(
                    lease_id=lease,
                    first_id=piece.node.first,
                    count=piece.node.count,
                    source=piece.source,
                    view_lines_seen=piece.lines_seen,
                    failures=piece.failures,
                )
                for lease, piece in zip(leased.leases, leased.work.pieces, strict=True)
            ],
            log_id=leased.work.log,
            generation=leased.work.generation,
            view_lines=leased.work.view,
            expire_time=contract_out.timestamp(leased.expire_time),
        )

    async def CompleteCompaction(
        self, request: memory_service_pb2.CompleteCompactionRequest, context: Any
    ) -> memory_service_pb2.CompleteCompactionResponse:
        node = self._node(request.log_id, request.first_id, request.count)
        builder = contract_in.builder_name(request.builder)
        line = await self._compactions.complete(
            LogId(request.log_id),
            node,
            request.line,
            builder,
            Asked.told(request.calls, request.over_length_answers),
            generation=request.generation,
        )
        return memory_service_pb2.CompleteCompactionResponse(line=line)

    async def FailCompaction(
        self, request: memory_service_pb2.FailCompactionRequest, context: Any
    ) -> memory_service_pb2.FailCompactionResponse:
        cause = memory_service_pb2.FailCompactionRequest.Cause
        if request.cause not in (cause.CAUSE_UNAVAILABLE, cause.CAUSE_CONTENT):
            raise CauseMissing
        degraded = await self._compactions.give_back(
            LogId(request.log_id),
            self._node(request.log_id, request.first_id, request.count),
            LeaseId(request.lease_id),
            Asked.told(request.calls, request.over_length_answers),
            content=request.cause == cause.CAUSE_CONTENT,
        )
        return memory_service_pb2.FailCompactionResponse(degraded=degraded)

    def _node(self, log: str, first: int, count: int) -> Node:
        node = node_at(first, count)
        if node is None:
            self._reading.must_exist(LogId(log))
            raise NodeUnknown(
                f"No tree has a node {first}+{count}: the first number is a multiple of the"
                " second, which is a power of two."
            )
        return node
