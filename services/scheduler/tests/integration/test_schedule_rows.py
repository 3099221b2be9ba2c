"""The rows in a real store: what is due, in which order they are listed, what goes with what."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest
from onechat_runtime.store import Store, migrations_in
from onechat_scheduler.__main__ import MIGRATIONS, NAME
from onechat_scheduler.adapters import schedule_rows as rows
from onechat_scheduler.adapters.schedule_rows import Place
from onechat_scheduler.domain.schedule import OwnerId, Run, Schedule

from tests.fakes.clock import ManualClock

NOW = datetime(2027, 1, 1, 9, tzinfo=UTC)
ANN, BEN = OwnerId("ann"), OwnerId("ben")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    clock = ManualClock(NOW)
    async with Store.open(
        tmp_path / "store.db", component=NAME, migrations=migrations_in(MIGRATIONS), clock=clock
    ) as opened:
        yield opened


async def added(store: Store, minutes: float, owner: OwnerId = ANN, **fields: Any) -> Schedule:
    """A schedule that is due so many minutes from NOW; one of an expression unless it is told otherwise."""
    fields = {"text": "x", "at": None, "cron": "0 8 * * *", "zone": "Europe/Rome", "backed": True, **fields}
    due = NOW + timedelta(minutes=minutes)
    return await store.write(lambda db: rows.add(db, owner=owner, now=NOW, next_time=due, **fields))


async def recorded(store: Store, schedule: Schedule, next_time: datetime | None = None) -> Run:
    """A run of `schedule` at its time, not given yet."""
    assert schedule.next_time is not None
    due = schedule.next_time
    run = Run(schedule=schedule.id, owner=schedule.owner, due=due, text="[x] y", backed=schedule.backed)
    await store.write(lambda db: rows.record(db, run, due, next_time))
    return run


def page(
    store: Store, owner: OwnerId | None = ANN, after: Place | None = None, limit: int = 9
) -> list[Schedule]:
    return store.read(lambda db: rows.page(db, owner, after, limit))


def ids(schedules: list[Schedule]) -> list[int]:
    return [schedule.id for schedule in schedules]


def due(store: Store, minutes: float, limit: int = 9) -> list[int]:
    """The ids of what is due so many minutes from NOW."""
    return ids(store.read(lambda db: rows.due(db, NOW + timedelta(minutes=minutes), limit)))


@pytest.mark.parametrize(
    "fields", [{"backed": True}, {"backed": False, "at": "2027-01-01 10:30", "cron": None}]
)
async def test_a_schedule_is_read_as_it_was_added(store, fields):
    made = await added(store, 30, text="Water\x00 the 植物\n", **fields)

    assert page(store) == [made]
    assert (made.last_time, made.next_time) == (NOW, NOW + timedelta(minutes=30))


async def test_the_id_of_a_removed_schedule_is_not_given_again(store):
    """Its runs' keys would be known to the agent service, which would take none of the new one's."""
    last = [await added(store, 1), await added(store, 2)][-1]
    await store.write(lambda db: rows.remove(db, ANN, last.id))

    assert (await added(store, 3)).id == last.id + 1


async def test_schedules_are_listed_by_their_time_then_by_their_id(store):
    made = [await added(store, minutes, owner) for minutes, owner in [(5, ANN), (3, BEN), (5, ANN), (1, ANN)]]
    late, other, later, soon = ids(made)

    assert ids(page(store)) == [soon, late, later]
    assert ids(page(store, BEN)) == [other]
    assert ids(page(store, None)) == [soon, other, late, later]


async def test_one_that_waits_is_listed_by_the_time_it_waits_since(store):
    waits, comes, once = await added(store, 1), await added(store, 2), await added(store, 3)
    await recorded(store, waits, NOW + timedelta(days=1))
    await recorded(store, once)

    listed = page(store)

    assert ids(listed) == ids([waits, comes, once])
    assert [schedule.next_time for schedule in listed] == [waits.next_time, comes.next_time, once.next_time]


@pytest.mark.parametrize("owner", [ANN, None])
async def test_pages_follow_one_another_without_a_gap_or_a_repeat(store, owner):
    made = [await added(store, minute // 3) for minute in range(20)]
    for schedule in made[::4]:
        await recorded(store, schedule, NOW + timedelta(days=1))

    read: list[Schedule] = []
    while more := page(store, owner, Place(time=read[-1].next_time, id=read[-1].id) if read else None, 3):
        read += more

    assert ids(read) == ids(made)


async def test_what_has_come_is_due_the_longest_due_first_and_no_more_than_wanted(store):
    later, sooner, other = await added(store, 2), await added(store, 1), await added(store, 3)

    assert due(store, 0.99) == []
    assert due(store, 1) == [sooner.id]
    assert due(store, 5) == [sooner.id, later.id, other.id]
    assert due(store, 5, limit=2) == [sooner.id, later.id]


async def test_one_that_waits_is_neither_due_nor_the_soonest_before_it_is_settled(store):
    first, second = await added(store, 1), await added(store, 7)
    run = await recorded(store, first, NOW + timedelta(minutes=6))

    assert due(store, 60) == [second.id]
    assert store.read(rows.soonest) == second.next_time

    await store.write(lambda db: rows.settle(db, run))

    assert due(store, 60) == [first.id, second.id]
    assert store.read(rows.soonest) == NOW + timedelta(minutes=6)


async def test_a_schedule_has_one_waiting_run_at_the_most(store):
    schedule = await added(store, 1)
    await recorded(store, schedule, NOW + timedelta(minutes=6))

    with pytest.raises(apsw.ConstraintError):
        await recorded(store, schedule, NOW + timedelta(minutes=11))


async def test_runs_are_given_the_longest_due_first_as_they_were_recorded(store):
    made = [await recorded(store, await added(store, minutes)) for minutes in (3, 1, 2)]

    assert store.read(lambda db: rows.runs(db, 9)) == [made[1], made[2], made[0]]
    assert store.read(lambda db: rows.runs(db, 1)) == [made[1]]
    assert store.read(rows.waiting) == 3


async def test_the_last_time_never_goes_back(store):
    """The clock may have been set back meanwhile, and what was given must not come again."""
    schedule = await added(store, -60)
    run = await recorded(store, schedule, NOW + timedelta(days=1))
    await store.write(lambda db: rows.settle(db, run))

    assert [kept.last_time for kept in page(store)] == [NOW]


async def test_a_schedule_that_never_comes_again_goes_with_its_run(store):
    once, again = await added(store, 1), await added(store, 1)
    runs = [await recorded(store, once), await recorded(store, again, NOW + timedelta(days=1))]
    assert ids(page(store)) == ids([once, again])

    for run in runs:
        await store.write(lambda db, run=run: rows.settle(db, run))

    assert ids(page(store)) == [again.id]
    assert store.read(rows.waiting) == 0


async def test_a_run_is_settled_by_its_own_time_alone(store):
    """An answer that comes late is for another run of the schedule."""
    schedule = await added(store, 1)
    run = await recorded(store, schedule)
    other = Run(schedule=run.schedule, owner=run.owner, due=NOW, text=run.text, backed=True)

    await store.write(lambda db: rows.settle(db, other))

    assert store.read(lambda db: rows.runs(db, 9)) == [run]
    assert ids(page(store)) == [schedule.id]


async def test_only_the_owner_removes_a_schedule_and_what_waits_goes_with_it(store):
    schedule = await added(store, 1)
    run = await recorded(store, schedule, NOW + timedelta(days=1))

    assert await store.write(lambda db: rows.remove(db, BEN, schedule.id)) is False
    assert await store.write(lambda db: rows.remove(db, ANN, schedule.id)) is True
    assert await store.write(lambda db: rows.remove(db, ANN, schedule.id)) is False
    assert store.read(rows.waiting) == 0

    await store.write(lambda db: rows.settle(db, run))  # it was on its way


async def test_all_of_an_owners_go_and_nobody_elses(store):
    mine, other = [await added(store, 1), await added(store, 2)], await added(store, 3, BEN)
    await recorded(store, mine[0], NOW + timedelta(days=1))

    assert await store.write(lambda db: rows.remove_all(db, ANN)) == 2
    assert await store.write(lambda db: rows.remove_all(db, ANN)) == 0
    assert ids(page(store, None)) == [other.id]
    assert store.read(rows.waiting) == 0


async def test_another_zone_moves_every_expression_and_no_single_time(store):
    daily, at = await added(store, 1), await added(store, 2, cron=None, at="2027-01-01 10:02")
    moved = NOW + timedelta(hours=6)

    await store.write(lambda db: rows.rezone(db, "America/New_York", lambda schedule: moved))

    assert [(one.zone, one.next_time) for one in page(store)] == [
        ("Europe/Rome", at.next_time),
        ("America/New_York", moved),
    ]
    assert ids(page(store)) == [at.id, daily.id]


async def test_a_fact_is_what_was_set_last(store):
    assert store.read(lambda db: rows.fact(db, "zone")) is None

    for value in ("Europe/Rome", "UTC"):
        await store.write(lambda db, value=value: rows.set_fact(db, "zone", value))

    assert store.read(lambda db: rows.fact(db, "zone")) == "UTC"


@pytest.mark.parametrize("owner", [ANN, None])
async def test_a_page_is_read_along_indexes(store, owner):
    """Ten thousand schedules must not be read and sorted for each page of them."""

    def plan(db: apsw.Connection) -> list[str]:
        said: list[tuple[str, Any]] = []
        db.exec_trace = lambda cursor, sql, bindings: said.append((sql, bindings)) or True
        rows.page(db, owner, Place(time=NOW, id=1), 100)
        db.exec_trace = None
        return [row[-1] for row in db.execute(f"EXPLAIN QUERY PLAN {said[0][0]}", said[0][1])]

    steps = await store.write(plan)

    index = "schedules_by_next_time" if owner is None else "schedules_by_owner"
    assert any(step.startswith(f"SEARCH schedules USING INDEX {index}") for step in steps), steps
    assert not [step for step in steps if step.startswith("SCAN schedules")], steps
