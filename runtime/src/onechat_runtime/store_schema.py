"""Numbered migrations of a store, forward only, and the copy that is kept beside it before each.

A service's migrations are `NNNN_name.sql` in its package `onechat_<name>.migrations`, numbered from 1. The
runtime's own tables are migrations of the component "runtime" in the same store.
"""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import Final

import apsw

from onechat_runtime.clock import micros
from onechat_runtime.errors import StartRefused

RUNTIME: Final = "runtime"
COPY_SUFFIX: Final = ".before-migration"
_NAME: Final = re.compile(r"(\d{4})_(\w+)\.sql")
_LEDGER: Final = """
CREATE TABLE IF NOT EXISTS store_migrations (
    component TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, time INTEGER NOT NULL,
    PRIMARY KEY (component, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS store_starts (
    only INTEGER PRIMARY KEY CHECK (only = 1), time INTEGER NOT NULL
) STRICT;
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step of a schema."""

    number: int  #: from 1, without gaps
    name: str
    sql: str  #: one or more statements, none of them about transactions


def migrations_in(package: str) -> list[Migration]:
    """The migrations that lie in `package`, in order. ValueError when their numbers have a gap."""
    found = []
    for entry in resources.files(package).iterdir():
        if match := _NAME.fullmatch(entry.name):
            sql = entry.read_text(encoding="utf-8")
            found.append(Migration(number=int(match[1]), name=match[2], sql=sql))
    found.sort(key=lambda migration: migration.number)
    if [migration.number for migration in found] != list(range(1, len(found) + 1)):
        raise ValueError(f"the migrations in {package} are not numbered 0001, 0002, … without gaps")
    return found


def bring_up_to_date(
    db: apsw.Connection, path: Path, components: Mapping[str, Sequence[Migration]], now: datetime
) -> None:
    """Apply what `components` have and the store lacks, in one transaction, after a copy of the store.

    Raises StartRefused for a store that is newer or another service's. Also writes the time of this start,
    which shows at once whether the store can be written.
    """
    applied = _applied(db)
    for component, number in applied.items():
        if component not in components:
            raise StartRefused(f"{path} is the store of {component}: ONECHAT_DATA names the wrong folder.")
        if number > len(components[component]):
            raise StartRefused(
                f"{path} was made by a newer onechat (schema {number}; this one knows "
                f"{len(components[component])}): start that version, or restore an older backup."
            )
    pending = [
        (component, migration)
        for component, migrations in components.items()
        for migration in migrations[applied.get(component, 0) :]
    ]
    if pending and applied:
        _keep_copy(db, path)
    db.execute("BEGIN IMMEDIATE")
    try:
        _run(db, _LEDGER)
        for component, migration in pending:
            _run(db, migration.sql)
            row = (component, migration.number, migration.name, micros(now))
            db.execute("INSERT INTO store_migrations VALUES (?, ?, ?, ?)", row)
        db.execute("INSERT OR REPLACE INTO store_starts VALUES (1, ?)", (micros(now),))
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _applied(db: apsw.Connection) -> dict[str, int]:
    if not db.table_exists(None, "store_migrations"):
        if db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall():
            raise StartRefused(f"{db.filename} is a database, but not one of onechat: move it away.")
        return {}
    rows = db.execute("SELECT component, max(number) FROM store_migrations GROUP BY component")
    return {str(component): int(str(number)) for component, number in rows}


def _run(db: apsw.Connection, sql: str) -> None:
    db.execute(sql).fetchall()


def _keep_copy(db: apsw.Connection, path: Path) -> None:
    """Copy the store to `path`.before-migration; the copy of the migration before is replaced."""
    copy = path.with_name(path.name + COPY_SUFFIX)
    fresh = path.with_name(path.name + COPY_SUFFIX + ".new")
    try:
        with suppress(FileNotFoundError):
            fresh.unlink()
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        db.execute("VACUUM INTO ?", (str(fresh),))  # into an empty file, so that it keeps the mode
        with fresh.open("rb+") as written:
            os.fsync(written.fileno())
        fresh.replace(copy)
    except BaseException:
        with suppress(OSError):
            fresh.unlink()
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
