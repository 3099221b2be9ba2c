"""ops.v1.SnapshotService, which every service serves: what it is, what it misses, and copies of its store.

What is frozen: freezing.py. Sizes are bytes.
"""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import datetime, timedelta
from functools import cache
from importlib import metadata
from typing import Any, BinaryIO, Final

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from onechat.ops.v1 import ops_service_pb2, ops_service_pb2_grpc

from onechat_runtime.errors import NotServedYet
from onechat_runtime.freezing import Snapshots
from onechat_runtime.health import HealthBoard
from onechat_runtime.request_ids import call_body
from onechat_runtime.tokens import CALLERS

DESCRIPTOR: Final = ops_service_pb2.DESCRIPTOR.services_by_name["SnapshotService"]
_OPERATOR: Final = frozenset({"operator"})
ALLOW: Final = {
    "GetInfo": frozenset(CALLERS),
    "Freeze": _OPERATOR,
    "ReadSnapshot": _OPERATOR,
    "Thaw": _OPERATOR,
}
CAPS: Final = {"GetInfo": 5.0, "Freeze": 5.0, "ReadSnapshot": 600.0, "Thaw": 5.0}  # s, as in the contract
ENDS_AT_DRAIN: Final = frozenset({"ReadSnapshot"})
CHUNK: Final = 64 * 1024
READ_AT_ONCE: Final = 16 * CHUNK  # a worker thread for each chunk would cost more than the chunk
_NO_STORE: Final = "This service has no store: there is nothing to freeze and nothing to copy."


@cache
def version() -> str:
    """The version of onechat that runs."""
    return metadata.version("onechat-runtime")


class SnapshotServicer(ops_service_pb2_grpc.SnapshotServiceServicer):
    """Answers for the service `name`, which began at `started` with its store at `schema`.

    `snapshots` are those of its store; None where it has none.
    """

    def __init__(
        self,
        *,
        name: str,
        schema: int,
        started: datetime,
        board: HealthBoard,
        snapshots: Snapshots | None,
    ) -> None:
        self._name = name
        self._schema = schema
        self._started = started
        self._board = board
        self._version = version()
        self._of_store = snapshots

    async def GetInfo(self, request: Any, context: Any) -> ops_service_pb2.GetInfoResponse:
        return ops_service_pb2.GetInfoResponse(
            service=self._name,
            version=self._version,
            schema=self._schema,
            start_time=_timestamp(self._started),
            neighbours=[
                ops_service_pb2.Neighbour(
                    service=name, serving=found.serving, change_time=_timestamp(found.since)
                )
                for name, found in self._board.neighbours().items()
            ],
            troubles=[
                ops_service_pb2.Trouble(
                    key=key, sentence=trouble.sentence, start_time=_timestamp(trouble.since)
                )
                for key, trouble in self._board.troubles().items()
            ],
            remarks=self._board.remarks().values(),
        )

    async def Freeze(self, request: Any, context: Any) -> ops_service_pb2.FreezeResponse:
        snapshots = self._snapshots()

        async def answer() -> bytes:
            frozen = await snapshots.freeze()
            readable_for = Duration()
            readable_for.FromTimedelta(timedelta(seconds=frozen.readable_s))
            return ops_service_pb2.FreezeResponse(
                snapshot_id=frozen.snapshot_id,
                hold_end_time=_timestamp(frozen.hold_end),
                readable_for=readable_for,
            ).SerializeToString()

        given = await snapshots.calls.once(
            request_id=request.request_id,
            body=call_body("Freeze", request),
            answer=answer,
        )
        return ops_service_pb2.FreezeResponse.FromString(given)

    async def ReadSnapshot(
        self, request: Any, context: Any
    ) -> AsyncIterator[ops_service_pb2.ReadSnapshotResponse]:
        with closing(await self._snapshots().copy(request.snapshot_id)) as copy:
            async for response in _in_chunks(copy):
                yield response

    async def Thaw(self, request: Any, context: Any) -> ops_service_pb2.ThawResponse:
        snapshots = self._snapshots()

        async def answer() -> bytes:
            snapshots.thaw(request.snapshot_id)
            return b""

        await snapshots.calls.once(
            request_id=request.request_id,
            body=call_body("Thaw", request),
            answer=answer,
        )
        return ops_service_pb2.ThawResponse()

    def _snapshots(self) -> Snapshots:
        if self._of_store is None:
            raise NotServedYet(_NO_STORE)
        return self._of_store


async def _in_chunks(file: BinaryIO) -> AsyncIterator[ops_service_pb2.ReadSnapshotResponse]:
    """`file` from here on, with its size in the first response and its SHA-256 in a last one."""
    size, digest = os.fstat(file.fileno()).st_size, hashlib.sha256()

    def read() -> bytes:
        content = file.read(READ_AT_ONCE)
        digest.update(content)
        return content

    response = ops_service_pb2.ReadSnapshotResponse(total_bytes=size)
    while content := await asyncio.to_thread(read):
        for start in range(0, len(content), CHUNK):
            response.chunk.content = content[start : start + CHUNK]
            yield response
            response = ops_service_pb2.ReadSnapshotResponse()
    response.chunk.sha256 = digest.digest()
    yield response


def _timestamp(instant: datetime) -> Timestamp:
    made = Timestamp()
    made.FromDatetime(instant)
    return made
