"""grpc.health.v1 and /healthz, both from the one HealthBoard.

Health components: "" (the whole), each served service by its full name, and "neighbour.<name>" for each
service that this one calls. A missing neighbour leaves all others SERVING.
"""

import asyncio
import json
from collections.abc import Sequence
from typing import Any, Final

from grpc_health.v1 import health, health_pb2

from onechat_runtime.health import HealthBoard

NEIGHBOUR_PREFIX: Final = "neighbour."
_SERVING: Final = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING: Final = health_pb2.HealthCheckResponse.NOT_SERVING
_SHUTDOWN_S: Final = 1.0  # one watcher that does not read must not hold the end of the service


class HealthService:
    """Keeps gRPC's health servicer as `board` says, for the services named `services`."""

    def __init__(self, board: HealthBoard, services: Sequence[str]) -> None:
        self.servicer: Any = health.aio.HealthServicer()
        self._board = board
        self._services = tuple(services)
        self._changed = asyncio.Event()

    async def run(self) -> None:
        """Show every change of the board, until cancelled."""
        forget = self._board.on_change(self._changed.set)
        try:
            while True:
                self._changed.clear()
                await self._show()
                await self._changed.wait()
        finally:
            forget()

    async def shut_down(self) -> None:
        """Answer NOT_SERVING for everything from now on, and tell whoever watches."""
        try:
            async with asyncio.timeout(_SHUTDOWN_S):
                await self.servicer.enter_graceful_shutdown()
        except TimeoutError:
            return

    async def _show(self) -> None:
        whole = _SERVING if self._board.serving else _NOT_SERVING
        for name in ("", *self._services):
            await self.servicer.set(name, whole)
        for name, neighbour in self._board.neighbours().items():
            state = _SERVING if neighbour.serving else _NOT_SERVING
            await self.servicer.set(NEIGHBOUR_PREFIX + name, state)


def health_page(board: HealthBoard) -> tuple[bool, bytes]:
    """Whether the service serves, and the same as JSON with what it misses and what troubles it."""
    shown = {
        "status": "SERVING" if board.serving else "NOT_SERVING",
        "neighbours": {
            name: "SERVING" if neighbour.serving else "NOT_SERVING"
            for name, neighbour in board.neighbours().items()
        },
        "troubles": {key: trouble.sentence for key, trouble in board.troubles().items()},
        "remarks": dict(board.remarks()),
    }
    return board.serving, (json.dumps(shown, ensure_ascii=False) + "\n").encode()
