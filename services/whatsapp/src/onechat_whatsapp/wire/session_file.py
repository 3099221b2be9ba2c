"""The session as the gateway sees it: a file that the child process writes, and that is only read here.

It is the library's own SQLite file. The gateway reads it from its own process, without the library, and never
writes: two copies of SQLite in one process would drop each other's locks. Tables: whatsmeow's schema 15.
Names are read as bytes, since people give them to themselves and the library keeps what is no UTF-8 too.
"""

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import apsw

from onechat_whatsapp.domain.chat_ids import LIDS, NUMBERS, bare, jid, user_of
from onechat_whatsapp.domain.names import Contact
from onechat_whatsapp.wire.ports import Me, SessionUnreadable

BUSY_MS: Final = 2_000  # how long a read waits for the child's write

# The tables are not there yet, it is no session that the library would take, or it is being removed.
_NOTHING_TO_READ: Final = (
    *(apsw.SQLError, apsw.NotADBError, apsw.CorruptError),
    *(apsw.CantOpenError, apsw.IOError),
)

Rows = list[tuple[Any, ...]]


class SessionFile:
    """What is in the session at `path`; without a file, or before the library made its tables, nothing."""

    def __init__(self, path: Path, *, busy_ms: int = BUSY_MS) -> None:
        """`busy_ms` is how long a read waits for another's write. Each of them raises SessionUnreadable."""
        self.path = path
        self._busy_ms = busy_ms

    def is_linked(self) -> bool:
        """Whether a device is in it."""
        return bool(self._rows("SELECT 1 FROM whatsmeow_device LIMIT 1"))

    def me(self) -> Me | None:
        """Whose device it is."""
        rows = self._rows("SELECT jid, lid, CAST(push_name AS BLOB) FROM whatsmeow_device LIMIT 1")
        for number, lid, name in rows:
            return Me(number=bare(number), lid=bare(lid or ""), push_name=_name(name))
        return None

    def contacts(self) -> list[Contact]:
        """Everybody it knows."""
        rows = self._rows(
            "SELECT CAST(their_jid AS BLOB), CAST(full_name AS BLOB), CAST(first_name AS BLOB),"
            " CAST(push_name AS BLOB), CAST(business_name AS BLOB) FROM whatsmeow_contacts"
            " WHERE our_jid = (SELECT jid FROM whatsmeow_device LIMIT 1)"
        )
        return [
            Contact(
                id=bare(_name(known)),
                full_name=_name(full),
                first_name=_name(first),
                push_name=_name(push),
                business_name=_name(business),
            )
            for known, full, first, push, business in rows
        ]

    def number_of(self, lid: str) -> str:
        """The number behind `lid`, as an id; "" where it is not known."""
        rows = self._rows("SELECT pn FROM whatsmeow_lid_map WHERE lid = ?", user_of(lid))
        return jid(str(rows[0][0]), NUMBERS) if rows else ""

    def lid_of(self, number: str) -> str:
        """The LID of `number`, as an id; "" where it is not known."""
        rows = self._rows("SELECT lid FROM whatsmeow_lid_map WHERE pn = ?", user_of(number))
        return jid(str(rows[0][0]), LIDS) if rows else ""

    def delete(self) -> None:
        """Remove it, also from behind a link, with what SQLite keeps beside it. Nobody may hold it then."""
        for path in (os.path.realpath(self.path), self.path):
            for end in ("", "-wal", "-shm", "-journal"):
                Path(f"{path}{end}").unlink(missing_ok=True)

    def _rows(self, query: str, *values: str) -> Rows:
        try:
            with self._opened() as connection:
                if connection is not None:
                    with contextlib.suppress(*_NOTHING_TO_READ):
                        return list(connection.execute(query, values))
        except apsw.Error as error:
            raise SessionUnreadable(f"{type(error).__name__}: {error}") from error
        return []

    @contextmanager
    def _opened(self) -> Iterator[apsw.Connection | None]:
        try:
            connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READONLY)
        except apsw.CantOpenError:
            if os.path.lexists(self.path):  # another user's, or behind a link to a disk that is not there
                raise
            yield None
            return
        try:
            connection.set_busy_timeout(self._busy_ms)
            yield connection
        finally:
            connection.close()


def _name(stored: bytes | None) -> str:
    return (stored or b"").decode("utf-8", "replace")
