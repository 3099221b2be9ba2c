"""ops.v1.SnapshotService, which every service serves: what it is and what it misses.

Freeze, ReadSnapshot and Thaw are of the contract and not served yet.
"""

from collections.abc import AsyncIterator
from datetime import datetime
from importlib import metadata
from typing import Any, Final

from google.protobuf.timestamp_pb2 import Timestamp
from onechat.ops.v1 import ops_service_pb2, ops_service_pb2_grpc

from onechat_runtime.errors import NotServedYet
from onechat_runtime.health import HealthBoard
from onechat_runtime.tokens import CALLERS

DESCRIPTOR: Final = ops_service_pb2.DESCRIPTOR.services_by_name["SnapshotService"]
_OPERATOR: Final = frozenset({"operator"})
ALLOW: Final = {
    "GetInfo": frozenset(CALLERS),
    "Freeze": _OPERATOR,
    "ReadSnapshot": _OPERATOR,
    "Thaw": _OPERATOR,
}
_NO_SNAPSHOTS: Final = (
    "This version makes no snapshot of a running service: stop onechat, and copy its data folder."
)


def version() -> str:
    """The version of onechat that runs."""
    return metadata.version("onechat-runtime")


class SnapshotServicer(ops_service_pb2_grpc.SnapshotServiceServicer):
    """Answers for the service `name`, which began at `started` with its store at `schema`."""

    def __init__(self, *, name: str, schema: int, started: datetime, board: HealthBoard) -> None:
        self._name = name
        self._schema = schema
        self._started = started
        self._board = board
        self._version = version()

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
        raise NotServedYet(_NO_SNAPSHOTS)

    async def ReadSnapshot(
        self, request: Any, context: Any
    ) -> AsyncIterator[ops_service_pb2.ReadSnapshotResponse]:
        raise NotServedYet(_NO_SNAPSHOTS)
        yield ops_service_pb2.ReadSnapshotResponse()

    async def Thaw(self, request: Any, context: Any) -> ops_service_pb2.ThawResponse:
        raise NotServedYet(_NO_SNAPSHOTS)


def _timestamp(instant: datetime) -> Timestamp:
    made = Timestamp()
    made.FromDatetime(instant)
    return made
