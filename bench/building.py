"""Builds lines as an agent service would, without a model: what is ready is leased and gets a made line."""

import asyncio
import random
from typing import Any

import grpc.aio
from onechat.memory.v1 import memory_service_pb2, memory_service_pb2_grpc

from bench.made_texts import SEED, line
from bench.processes import TIMEOUT_S

BUILDER = "benchmark"


class Builder:
    """The one who leases, with a row of lines of its own for each `seed`."""

    def __init__(self, channel: grpc.aio.Channel, seed: str) -> None:
        self._stub: Any = memory_service_pb2_grpc.MemoryServiceStub(channel)
        self._rng = random.Random(f"{SEED} {seed}")

    async def build_some(self) -> memory_service_pb2.LeaseCompactionsResponse:
        """Lease what is ready, at most eight pieces, and build it; what was leased."""
        request = memory_service_pb2.LeaseCompactionsRequest(holder=BUILDER)
        leased: memory_service_pb2.LeaseCompactionsResponse
        leased = await self._stub.LeaseCompactions(request, timeout=TIMEOUT_S)
        built = [
            memory_service_pb2.CompleteCompactionRequest(
                log_id=leased.log_id,
                first_id=piece.first_id,
                count=piece.count,
                line=line(self._rng),
                builder=BUILDER,
                generation=leased.generation,
            )
            for piece in leased.pieces
        ]
        await asyncio.gather(*(self._stub.CompleteCompaction(one, timeout=TIMEOUT_S) for one in built))
        return leased

    async def build_all(self) -> None:
        """Until nothing is left to build."""
        while (await self.build_some()).pieces:
            pass
