"""Memory services that a reader meets on a bad day: an index that is behind, an end or a swap in the middle.

Each answers only the calls that such a reader makes. The real one: memory_server.py.
"""

from collections.abc import AsyncIterator
from typing import Any

import grpc
from onechat.memory.v1 import (
    memory_service_pb2,
    memory_service_pb2_grpc,
    message_pb2,
    search_pb2,
    stats_pb2,
)
from onechat_runtime.errors import ServiceError
from onechat_runtime.listening import Served
from onechat_runtime.tokens import CALLERS


def standing_in(servicer: memory_service_pb2_grpc.MemoryServiceServicer) -> Served:
    """`servicer` as a memory service, for every caller."""
    descriptor = memory_service_pb2.DESCRIPTOR.services_by_name["MemoryService"]
    return Served(
        descriptor=descriptor,
        add=lambda server: memory_service_pb2_grpc.add_MemoryServiceServicer_to_server(servicer, server),
        allow={method.name: frozenset(CALLERS) for method in descriptor.methods},
    )


class IndexBehind(ServiceError):
    """It is behind."""

    code, reason = grpc.StatusCode.UNAVAILABLE, "INDEX_BEHIND"


class SlowIndex(memory_service_pb2_grpc.MemoryServiceServicer):
    """Its index is behind for `behind` calls, and gets on with each; with `stuck` it does not."""

    def __init__(self, behind: int, *, stuck: bool = False) -> None:
        self.behind = behind
        self.stuck = stuck

    async def SearchMessages(self, request: Any, context: Any) -> search_pb2.SearchMessagesResponse:
        if self.behind:
            self.behind -= 1
            held = 0 if self.stuck else 1_000 - self.behind
            raise IndexBehind(f"The search index holds {held} of 1,000 messages so far. Search again.")
        return search_pb2.SearchMessagesResponse(messages=[message_pb2.Message(id=7, text="found")])


class Breaking(memory_service_pb2_grpc.MemoryServiceServicer):
    """Goes away in the middle of a log of 900 messages, after three."""

    async def GetLogStats(self, request: Any, context: Any) -> stats_pb2.GetLogStatsResponse:
        return stats_pb2.GetLogStatsResponse(log={"log_id": request.log_id, "length": 900, "generation": 1})

    async def ListMessages(
        self, request: Any, context: Any
    ) -> AsyncIterator[memory_service_pb2.ListMessagesResponse]:
        for number in range(3):
            message = message_pb2.Message(id=number, text="here")
            yield memory_service_pb2.ListMessagesResponse(messages=[message])
        await context.abort(grpc.StatusCode.UNAVAILABLE, "gone")


class Replaced(memory_service_pb2_grpc.MemoryServiceServicer):
    """Its log of one message is replaced whenever it was read."""

    generation = 1

    async def GetLogStats(self, request: Any, context: Any) -> stats_pb2.GetLogStatsResponse:
        log = {"log_id": request.log_id, "length": 1, "generation": self.generation}
        return stats_pb2.GetLogStatsResponse(log=log)

    async def ListMessages(
        self, request: Any, context: Any
    ) -> AsyncIterator[memory_service_pb2.ListMessagesResponse]:
        message = message_pb2.Message(text="here")
        yield memory_service_pb2.ListMessagesResponse(messages=[message])
        self.generation += 1
