"""Schedules as agents set them, made through the contract, none of which comes due while it is measured.

Half have a time in the next years, half an expression. To see some run, `come_due` moves their next times in
the store of a scheduler that does not run.
"""

import asyncio
import random
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final

import grpc.aio
from onechat.scheduler.v1 import scheduler_service_pb2 as v1
from onechat.scheduler.v1 import scheduler_service_pb2_grpc

from bench.baselines import Call
from bench.made_texts import SEED
from bench.processes import TIMEOUT_S

OWNERS: Final = ("benchmark-root", "benchmark-house", "benchmark-garden", "benchmark-calendar")
OTHER_OWNER: Final = "benchmark-other"  # who has none of the made ones
ZONE: Final = "Europe/Rome"
OTHER_ZONE: Final = "America/New_York"
AT_ONCE: Final = 32  # callers that make them
TEXT: Final = "Number {number}: sum up what was said in the garden's group since yesterday, in three lines."
_MICROS: Final = 1_000_000
_KEYS: Final = count(1)


def stub_of(channel: grpc.aio.Channel) -> Any:
    """The scheduler behind `channel`."""
    return scheduler_service_pb2_grpc.SchedulerServiceStub(channel)


async def make(channel: grpc.aio.Channel, wanted: int) -> None:
    """Have the scheduler keep `wanted` schedules more, of all owners in turn."""
    stub, rng = stub_of(channel), random.Random(SEED)
    requests = iter([_request(number, rng) for number in range(wanted)])

    async def ask() -> None:
        for request in requests:
            await stub.CreateSchedule(request, timeout=TIMEOUT_S)

    async with asyncio.TaskGroup() as callers:
        for _ in range(min(wanted, AT_ONCE)):
            callers.create_task(ask())


def _request(number: int, rng: random.Random) -> v1.CreateScheduleRequest:
    when = {"cron": _cron(rng)} if number % 2 else {"at": _at(rng)}
    return v1.CreateScheduleRequest(
        owner_id=OWNERS[number % len(OWNERS)],
        text=TEXT.format(number=number),
        backed=True,
        request_id=f"benchmark:{number}",
        **when,
    )


def _at(rng: random.Random) -> str:
    """A time at least a month away; at noon no clock changes."""
    day = datetime.now(UTC) + timedelta(days=rng.randrange(30, 1_000))
    return f"{day:%Y-%m-%d} 12:{rng.randrange(60):02}"


def _cron(rng: random.Random) -> str:
    """Daily, on weekdays, or every few minutes, in months that are not this one nor the next."""
    this = datetime.now(UTC).month
    month = (this + rng.randrange(1, 10)) % 12 + 1
    minute, hour = rng.randrange(60), rng.randrange(24)
    return rng.choice(
        [
            f"{minute} {hour} * {month} *",
            f"{minute} {hour} * {month} 1-5",
            f"{minute} {hour} {rng.randrange(1, 29)} {month} *",
            f"*/{rng.choice((5, 10, 15))} {hour} * {month} *",
        ]
    )


def set_call(channel: grpc.aio.Channel, made: list[int], **when: str) -> Call:
    """A call that sets another schedule each time and puts its id into `made`; `when`: at or cron."""
    stub = stub_of(channel)

    async def create() -> None:
        request = v1.CreateScheduleRequest(
            owner_id=OTHER_OWNER,
            text=TEXT.format(number=0),
            backed=True,
            request_id=f"benchmark:set:{next(_KEYS)}",
            **when,
        )
        answer = await stub.CreateSchedule(request, timeout=TIMEOUT_S)
        made.append(answer.schedule.schedule_id)

    return create


def list_call(channel: grpc.aio.Channel, owner: str) -> Call:
    """A call for the first page of an owner's."""
    stub = stub_of(channel)
    return lambda: stub.ListSchedules(v1.ListSchedulesRequest(owner_id=owner), timeout=TIMEOUT_S)


def remove_call(channel: grpc.aio.Channel, made: list[int]) -> Call:
    """A call that removes the latest of `made`."""
    stub = stub_of(channel)

    def remove() -> Any:
        request = v1.DeleteScheduleRequest(
            owner_id=OTHER_OWNER, schedule_id=made.pop(), request_id=f"benchmark:remove:{next(_KEYS)}"
        )
        return stub.DeleteSchedule(request, timeout=TIMEOUT_S)

    return remove


def one_time_ids(data: Path) -> list[int]:
    """The ids of the one-time schedules that a scheduler keeps in the data folder `data`."""
    with closing(sqlite3.connect(_store(data))) as db:
        rows = db.execute("SELECT schedule_id FROM schedules WHERE at IS NOT NULL ORDER BY schedule_id")
        return [int(number) for (number,) in rows]


def come_due(data: Path, ids: Sequence[int], first: float, gap_s: float) -> dict[int, float]:
    """Let `ids` be due from `first` on, `gap_s` apart; when each is, in seconds since 1970."""
    due = {number: first + place * gap_s for place, number in enumerate(ids)}
    with closing(sqlite3.connect(_store(data))) as db, db:
        db.executemany("UPDATE schedules SET next_time = ? WHERE schedule_id = ?", list(_moved(due)))
    return due


def _moved(due: dict[int, float]) -> Iterator[tuple[int, int]]:
    for number, at in due.items():
        yield round(at * _MICROS), number


def _store(data: Path) -> Path:
    return data / "scheduler" / "store.db"
