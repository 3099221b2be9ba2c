"""The store's rows on sends. Functions on a connection, for transactions. Instants are aware, UTC."""

from typing import Any, Final

import apsw
from onechat_runtime.clock import instant, micros

from onechat_whatsapp.domain.records import RECORDS_KEPT, SendRecord, SendState

_COLUMNS: Final = "request_id, chat, digest, state, message_id, failure, time"


def find(db: apsw.Connection, request_id: str) -> SendRecord | None:
    """What is kept of the send with this id."""
    row = db.execute(f"SELECT {_COLUMNS} FROM sends WHERE request_id = ?", (request_id,)).fetchone()
    return None if row is None else _record(row)


def add(db: apsw.Connection, record: SendRecord) -> None:
    """Note a send whose id is new; the oldest beyond RECORDS_KEPT are forgotten, but none that is at work."""
    db.execute(
        f"INSERT INTO sends ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            record.request_id,
            record.chat,
            record.digest,
            record.state,
            record.message_id,
            record.failure,
            micros(record.time),
        ),
    )
    db.execute(
        "DELETE FROM sends WHERE state != 'sending' AND number <= "
        "(SELECT number FROM sends ORDER BY number DESC LIMIT 1 OFFSET ?)",
        (RECORDS_KEPT,),
    )


def settle(db: apsw.Connection, record: SendRecord) -> None:
    """Note what became of a send."""
    db.execute(
        "UPDATE sends SET state = ?, message_id = ?, failure = ? WHERE request_id = ?",
        (record.state, record.message_id, record.failure, record.request_id),
    )


def remove(db: apsw.Connection, request_id: str) -> None:
    """Forget a send that surely did not leave, so that its id can be used."""
    db.execute("DELETE FROM sends WHERE request_id = ?", (request_id,))


def give_up_interrupted(db: apsw.Connection) -> int:
    """Note of what the last process was sending that its outcome is not known; how many there were."""
    db.execute("UPDATE sends SET state = 'unknown' WHERE state = 'sending'")
    return db.changes()


def _record(row: tuple[Any, ...]) -> SendRecord:
    request_id, chat, digest, state, message_id, failure, time = row
    return SendRecord(
        request_id=request_id,
        chat=chat,
        digest=digest,
        state=SendState(state),
        message_id=message_id,
        failure=failure,
        time=instant(time),
    )
