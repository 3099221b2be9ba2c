"""The store's rows on schedules, their runs, and what it knows of itself. Functions on a connection, for
transactions of their callers.

A schedule with a row in `runs` waits for the agent service and is not due again before that row is gone.
Which instants come next, domain/recurrence.py finds. Instants are aware, UTC; the tables: migrations/.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import apsw
from onechat_runtime.clock import instant, micros

from onechat_scheduler.domain.schedule import OwnerId, Run, Schedule, ScheduleId

_COLUMNS: Final = "schedule_id, owner_id, text, at, cron, zone, backed, last_time"
_NOT_WAITING: Final = "NOT EXISTS (SELECT 1 FROM runs WHERE runs.schedule_id = schedules.schedule_id)"
_BEFORE_ALL: Final = (-(1 << 62), 0)  # micros that no instant has


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a schedule stands in a list: by the time that it is shown with, then by its id."""

    time: datetime
    id: ScheduleId


def add(
    db: apsw.Connection,
    *,
    owner: OwnerId,
    text: str,
    at: str | None,
    cron: str | None,
    zone: str,
    backed: bool,
    now: datetime,
    next_time: datetime,
) -> Schedule:
    """A new schedule, set at `now`, under an id that no schedule had before."""
    set_time = micros(now)
    db.execute(
        "INSERT INTO schedules (owner_id, text, at, cron, zone, backed, set_time, last_time, next_time)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (owner, text, at, cron, zone, backed, set_time, set_time, micros(next_time)),
    )
    return Schedule(
        id=ScheduleId(db.last_insert_rowid()),
        owner=owner,
        text=text,
        at=at,
        cron=cron,
        zone=zone,
        backed=backed,
        last_time=now,
        next_time=next_time,
    )


def page(db: apsw.Connection, owner: OwnerId | None, after: Place | None, limit: int) -> list[Schedule]:
    """Up to `limit` schedules of `owner`, or of all for None, that follow `after`, by the time they are due.

    The `next_time` of one that waits for the agent service is the instant that it waits since.
    """
    # Two walks along an index each, so that a page costs what it shows and not what there is.
    mine = "" if owner is None else "AND schedules.owner_id = :owner"
    found = db.execute(
        f"""
        SELECT * FROM (
            SELECT {_COLUMNS}, next_time AS due FROM schedules
            WHERE (next_time, schedule_id) > (:time, :id) {mine} AND {_NOT_WAITING}
            ORDER BY next_time, schedule_id LIMIT :limit)
        UNION ALL SELECT * FROM (
            SELECT {_waiting_columns()}, due_time AS due
            FROM runs CROSS JOIN schedules ON schedules.schedule_id = runs.schedule_id
            WHERE (due_time, runs.schedule_id) > (:time, :id) {mine}
            ORDER BY due_time, runs.schedule_id LIMIT :limit)
        ORDER BY due, schedule_id LIMIT :limit
        """,
        dict(
            zip(("time", "id"), _BEFORE_ALL if after is None else (micros(after.time), after.id), strict=True)
        )
        | {"owner": owner, "limit": limit},
    )
    return [_schedule(row) for row in found.fetchall()]


def remove(db: apsw.Connection, owner: OwnerId, schedule: ScheduleId) -> bool:
    """Remove this schedule of `owner`, with a run that was not handed over; False when there is none."""
    db.execute("DELETE FROM schedules WHERE schedule_id = ? AND owner_id = ?", (schedule, owner))
    return db.changes() > 0


def remove_all(db: apsw.Connection, owner: OwnerId) -> int:
    """Remove every schedule of `owner`, with the runs that were not handed over; how many there were."""
    db.execute("DELETE FROM schedules WHERE owner_id = ?", (owner,))
    return db.changes()


def due(db: apsw.Connection, now: datetime, limit: int) -> list[Schedule]:
    """Up to `limit` schedules whose next time has come and that do not wait, the longest due first."""
    rows = db.execute(
        f"SELECT {_COLUMNS}, next_time FROM schedules WHERE next_time <= ? AND {_NOT_WAITING}"
        " ORDER BY next_time, schedule_id LIMIT ?",
        (micros(now), limit),
    )
    return [_schedule(row) for row in rows.fetchall()]


def soonest(db: apsw.Connection) -> datetime | None:
    """The next instant at which one that does not wait is due; None while there is none."""
    sql = f"SELECT next_time FROM schedules WHERE next_time IS NOT NULL AND {_NOT_WAITING}"
    return _optional(db.execute(f"{sql} ORDER BY next_time, schedule_id LIMIT 1").get)


def dealt_with(db: apsw.Connection) -> datetime | None:
    """The latest instant that any schedule was set at or has dealt with; a walk over all of them."""
    return _optional(db.execute("SELECT max(last_time) FROM schedules").get)


def record(db: apsw.Connection, run: Run, last_time: datetime, next_time: datetime | None) -> None:
    """Keep `run` until it is settled. Its schedule, which must not wait, has dealt with all to `last_time`.

    `last_time` only ever grows.
    """
    db.execute(
        "INSERT INTO runs (schedule_id, due_time, owner_id, text, backed) VALUES (?, ?, ?, ?, ?)",
        (run.schedule, micros(run.due), run.owner, run.text, run.backed),
    )
    db.execute(
        "UPDATE schedules SET last_time = max(last_time, ?), next_time = ? WHERE schedule_id = ?",
        (micros(last_time), None if next_time is None else micros(next_time), run.schedule),
    )


def runs(db: apsw.Connection, limit: int) -> list[Run]:
    """Up to `limit` runs that are to be handed over, the longest due first."""
    rows: list[Any] = db.execute(
        "SELECT schedule_id, owner_id, due_time, text, backed FROM runs"
        " ORDER BY due_time, schedule_id LIMIT ?",
        (limit,),
    ).fetchall()
    return [
        Run(
            schedule=ScheduleId(schedule),
            owner=OwnerId(owner),
            due=instant(due_time),
            text=text,
            backed=bool(backed),
        )
        for schedule, owner, due_time, text, backed in rows
    ]


def waits(db: apsw.Connection, run: Run) -> bool:
    """Whether `run` is still to be handed over."""
    sql = "SELECT EXISTS (SELECT 1 FROM runs WHERE schedule_id = ? AND due_time = ?)"
    return bool(db.execute(sql, (run.schedule, micros(run.due))).get)


def waiting(db: apsw.Connection) -> int:
    """How many runs are to be handed over."""
    return int(db.execute("SELECT count(*) FROM runs").get)


def settle(db: apsw.Connection, run: Run) -> None:
    """Forget `run`, which the agent service has; a schedule that never comes again goes with it.

    One that was removed meanwhile changes nothing.
    """
    db.execute("DELETE FROM runs WHERE schedule_id = ? AND due_time = ?", (run.schedule, micros(run.due)))
    if db.changes():
        db.execute("DELETE FROM schedules WHERE schedule_id = ? AND next_time IS NULL", (run.schedule,))


def rezone(db: apsw.Connection, zone: str, next_time_of: Callable[[Schedule], datetime | None]) -> None:
    """Give every cron schedule the zone in force, and the next time that `next_time_of` finds in it."""
    rows = db.execute(f"SELECT {_COLUMNS}, next_time FROM schedules WHERE cron IS NOT NULL").fetchall()
    db.executemany(
        "UPDATE schedules SET zone = ?, next_time = ? WHERE schedule_id = ?",
        _rezoned(rows, zone, next_time_of),
    )


def _rezoned(
    rows: Iterable[Any], zone: str, next_time_of: Callable[[Schedule], datetime | None]
) -> Iterable[tuple[str, int | None, ScheduleId]]:
    for schedule in map(_schedule, rows):
        next_time = next_time_of(schedule)
        yield zone, None if next_time is None else micros(next_time), schedule.id


def fact(db: apsw.Connection, name: str) -> str | None:
    """What the store knows of itself under `name`; None at first."""
    known = db.execute("SELECT value FROM facts WHERE name = ?", (name,)).get
    return None if known is None else str(known)


def set_fact(db: apsw.Connection, name: str, value: str) -> None:
    """Know `value` under `name` from now on."""
    db.execute(
        "INSERT INTO facts (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, value),
    )


def _waiting_columns() -> str:
    return ", ".join(f"schedules.{column}" for column in _COLUMNS.split(", "))


def _schedule(row: Any) -> Schedule:
    schedule, owner, text, at, cron, zone, backed, last_time, next_time = row
    return Schedule(
        id=ScheduleId(schedule),
        owner=OwnerId(owner),
        text=text,
        at=at,
        cron=cron,
        zone=zone,
        backed=bool(backed),
        last_time=instant(last_time),
        next_time=_optional(next_time),
    )


def _optional(time: int | None) -> datetime | None:
    return None if time is None else instant(time)
