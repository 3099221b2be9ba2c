"""How a server ended a call whose requests were still being written: what it said, not what the write met.

A write that comes when the server has ended the call fails, and grpc.aio then puts INTERNAL in the place of
the server's own status (grpc 1.85; its issue 36066). So a refusal in the middle of a stream would read as a
bug. Used by channels.py.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

import grpc
import grpc.aio

_WRITE_FAILED: Final = "Internal error from Core"  # the details of the status that a failed write leaves
_SERVER_WITHIN_S: Final = 1.0  # what the server said is on its way when a write fails


class EarlyEnd:
    """Watches one call for what its server says; made before anything else waits for the call."""

    def __init__(self, call: Any) -> None:
        self._said: grpc.aio.AioRpcError | None = None
        self._came = asyncio.Event()
        call.add_done_callback(self._note)

    def _note(self, call: Any) -> None:
        """Keep the status that `call` has now, unless a failed write left it there; called for each one."""
        code, details = _at_once(call.code()), _at_once(call.details())
        if _is_of_a_write(code, details):
            return
        self._said = grpc.aio.AioRpcError(
            code,
            initial_metadata=grpc.aio.Metadata(),
            trailing_metadata=_at_once(call.trailing_metadata()) or grpc.aio.Metadata(),
            details=details,
        )
        self._came.set()

    async def instead_of(self, error: grpc.aio.AioRpcError) -> grpc.aio.AioRpcError:
        """What the server said in place of `error`, where that came from a failed write; else `error`."""
        if not _is_of_a_write(error.code(), error.details()):
            return error
        try:
            await asyncio.wait_for(self._came.wait(), _SERVER_WITHIN_S)
        except TimeoutError:
            return error
        said = self._said
        return error if said is None or said.code() is grpc.StatusCode.OK else said


def _is_of_a_write(code: object, details: object) -> bool:
    return code is grpc.StatusCode.INTERNAL and details == _WRITE_FAILED


def _at_once(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """What `coroutine` gives without waiting, as the parts of an ended call do."""
    try:
        coroutine.send(None)
    except StopIteration as ended:
        return ended.value
    coroutine.close()
    return None
