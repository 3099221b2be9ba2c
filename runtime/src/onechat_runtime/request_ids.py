"""A write that comes twice under one id is done once: id, body hash and answer in the call's own transaction.

The table is in migrations/. Ids are kept 90 days.
"""

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

import apsw
from google.protobuf.message import Message

from onechat_runtime.clock import micros
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
    if len(request_id) > LONGEST or not (request_id.isascii() and request_id.isprintable()):
        raise BadRequestId()
    digest = hashlib.sha256(body).digest()
    oldest = micros(now - KEPT)
    known: list[Any] = db.execute(
        "SELECT body_sha256, answer FROM request_ids WHERE request_id = ? AND time >= ?", (request_id, oldest)
    ).fetchall()
    if known:
        first_digest: bytes = known[0][0]
        first_answer: bytes = known[0][1]
        if first_digest != digest:
            raise KeyReused()
        return first_answer
    given = answer()
    _forget_some(db, oldest)
    db.execute(
        "INSERT OR REPLACE INTO request_ids VALUES (?, ?, ?, ?)", (request_id, digest, given, micros(now))
    )
    return given


def _forget_some(db: apsw.Connection, oldest: int) -> None:
    db.execute(
        "DELETE FROM request_ids WHERE request_id IN"
        " (SELECT request_id FROM request_ids WHERE time < ? ORDER BY time LIMIT ?)",
        (oldest, _FORGOTTEN_A_CALL),
    )
