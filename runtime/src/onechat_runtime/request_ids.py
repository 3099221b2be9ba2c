"""A write that comes twice under one id is done once: id, body hash and answer in the call's own transaction.

The table is in migrations/. Ids are kept 90 days. Calls whose work ends with the process keep them in memory.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any, Final

import apsw
from google.protobuf.message import Message

from onechat_runtime.clock import Clock, micros
from onechat_runtime.errors import BadRequestId, KeyReused

KEPT: Final = timedelta(days=90)
LONGEST: Final = 200  # characters
_FORGOTTEN_A_CALL: Final = 16  # old ids go a few at a time, so that no call pays for all of them


def call_body(rpc: str, request: Message) -> bytes:
    """The body of a call for `once`: two calls have the same only if they ask the same of the same rpc."""
    return rpc.encode() + b"\0" + request.SerializeToString(deterministic=True)


def once(
    db: apsw.Connection, *, request_id: str, body: bytes, now: datetime, answer: Callable[[], bytes]
) -> bytes:
    """`answer()`, or what it gave when this `request_id` came first.

    Call it inside the write that `answer` belongs to; what `answer` raises undoes both. "" is no id: nothing
    is remembered. Raises KeyReused for another body under a known id, BadRequestId for one over 200 signs
    or outside printable ASCII.
    """
    if not request_id:
        return answer()
    known = answered(db, request_id=request_id, body=body, now=now)
    if known is not None:
        return known
    given = answer()
    _forget_some(db, micros(now - KEPT))
    digest = hashlib.sha256(body).digest()
    db.execute(
        "INSERT OR REPLACE INTO request_ids VALUES (?, ?, ?, ?)", (request_id, digest, given, micros(now))
    )
    return given


def answered(db: apsw.Connection, *, request_id: str, body: bytes, now: datetime) -> bytes | None:
    """What `once` gave when this `request_id` came first; None when it did not, and for "".

    For a call that does something outside before its write, which a repeat must not do again. Raises what
    `once` raises.
    """
    if not request_id:
        return None
    _check(request_id)
    known: list[Any] = db.execute(
        "SELECT body_sha256, answer FROM request_ids WHERE request_id = ? AND time >= ?",
        (request_id, micros(now - KEPT)),
    ).fetchall()
    if not known:
        return None
    first_digest: bytes = known[0][0]
    first_answer: bytes = known[0][1]
    if first_digest != hashlib.sha256(body).digest():
        raise KeyReused()
    return first_answer


class OnceHere:
    """`once` for work that ends with this process: the answers are in memory, and nothing is written.

    One call at a time, so that a retry waits for the first to end and then gets its answer.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._first: dict[str, tuple[datetime, bytes, bytes]] = {}  # time, digest, answer; oldest first
        self._one = asyncio.Lock()

    async def once(self, *, request_id: str, body: bytes, answer: Callable[[], Awaitable[bytes]]) -> bytes:
        """`answer()`, or what it gave when this `request_id` came first; raises what `once` raises."""
        if not request_id:
            return await answer()
        _check(request_id)
        digest = hashlib.sha256(body).digest()
        async with self._one:
            now = self._clock.now()
            self._forget(now - KEPT)
            if known := self._first.get(request_id):
                _, first_digest, first_answer = known
                if first_digest != digest:
                    raise KeyReused()
                return first_answer
            given = await answer()
            self._first[request_id] = (now, digest, given)
            return given

    def _forget(self, oldest: datetime) -> None:
        while self._first:
            first = next(iter(self._first))
            if self._first[first][0] >= oldest:
                return
            del self._first[first]


def _check(request_id: str) -> None:
    if len(request_id) > LONGEST or not (request_id.isascii() and request_id.isprintable()):
        raise BadRequestId()


def _forget_some(db: apsw.Connection, oldest: int) -> None:
    db.execute(
        "DELETE FROM request_ids WHERE request_id IN"
        " (SELECT request_id FROM request_ids WHERE time < ? ORDER BY time LIMIT ?)",
        (oldest, _FORGOTTEN_A_CALL),
    )
