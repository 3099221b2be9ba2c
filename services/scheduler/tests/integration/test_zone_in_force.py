"""Expressions follow the user's zone, which may be another one at the next start, or have other rules."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, reset_tzpath

import apsw
import pytest
from onechat_runtime.clock import micros
from onechat_runtime.errors import StartRefused
from onechat_runtime.store import Store, migrations_in
from onechat_scheduler import zone_in_force
from onechat_scheduler.__main__ import MIGRATIONS, NAME
from onechat_scheduler.adapters import schedule_rows, zone_rules

from tests.fakes.clock import ManualClock
from tests.fakes.disk import Disk
from tests.fakes.scheduler_server import MORNING, SchedulerServer, scheduling

ROME, NEW_YORK, TOKYO = "Europe/Rome", "America/New_York", "Asia/Tokyo"
ELSEWHEN = datetime(2030, 1, 1, tzinfo=UTC)


def store_in(data: Path, **how: Any) -> Any:
    """The store of a scheduler that does not run."""
    path, migrations = data / NAME / "store.db", migrations_in(MIGRATIONS)
    return Store.open(path, component=NAME, migrations=migrations, clock=ManualClock(MORNING), **how)


async def shown(scheduler: SchedulerServer) -> dict[int, tuple[str, str]]:
    """Each schedule's zone and next time, in UTC."""
    return {
        one.schedule_id: (one.zone, f"{one.next_time.ToDatetime():%Y-%m-%dT%H:%MZ}")
        for one in (await scheduler.listed()).schedules
    }


async def moved_elsewhen(data: Path, *facts: str) -> None:
    """Schedules' next times are other ones than the rules give, and the store knows no more than `facts`."""

    def job(db: apsw.Connection) -> None:
        db.execute("UPDATE schedules SET next_time = ?", (micros(ELSEWHEN),))
        for fact in facts:
            schedule_rows.set_fact(db, fact, "another")

    async with store_in(data) as store:
        await store.write(job)


async def test_in_another_zone_an_expression_runs_by_its_clock_and_a_single_time_when_it_was_to(tmp_path):
    async with scheduling(tmp_path) as scheduler:
        await scheduler.create(cron="0 18 * * *")
        await scheduler.create(at="2027-01-20 18:00")
        before = await shown(scheduler)

    async with scheduling(tmp_path, zone=NEW_YORK) as scheduler:
        after = await shown(scheduler)

    assert before == {1: (ROME, "2027-01-15T17:00Z"), 2: (ROME, "2027-01-20T17:00Z")}
    assert after == {1: (NEW_YORK, "2027-01-15T23:00Z"), 2: (ROME, "2027-01-20T17:00Z")}


async def test_what_has_come_by_the_new_clock_and_not_by_the_old_one_runs_late_and_once(tmp_path):
    """At eleven in Rome it is nineteen in Tokyo: there, eighteen has been since the schedule was set."""
    async with scheduling(tmp_path) as scheduler:
        await scheduler.create("Dinner", cron="0 18 * * *")

    later, next_time = MORNING + timedelta(hours=2), datetime(2027, 1, 16, 9, tzinfo=UTC)
    given = []
    for _ in range(2):
        async with scheduling(tmp_path, zone=TOKYO, now=later) as scheduler:
            await scheduler.until_waiting_for(next_time)
            given += scheduler.agent.texts()

    assert given == [
        "[Schedule 1] Dinner\n(This run is 1 hour late: it was due on 2027-01-15 at 18:00, Asia/Tokyo.)"
    ]


async def test_what_ran_by_the_old_clock_does_not_run_again_before_the_new_one_says_so(tmp_path):
    """Noon in Rome was given; an hour later the zone is New York's, where it is seven."""
    async with scheduling(tmp_path) as scheduler:
        await scheduler.create(cron="0 12 * * *")
        noon = datetime(2027, 1, 15, 11, tzinfo=UTC)
        await scheduler.until_waiting_for(noon)
        scheduler.alarm.advance(3 * 3_600)
        await scheduler.until_waiting_for(noon + timedelta(days=1))

    async with scheduling(tmp_path, zone=NEW_YORK, now=noon + timedelta(hours=1)) as scheduler:
        assert await shown(scheduler) == {1: (NEW_YORK, "2027-01-15T17:00Z")}
        assert scheduler.agent.texts() == []


@pytest.mark.parametrize("fact", ["zone", "zone_rules"])
async def test_next_times_are_found_anew_when_the_zone_or_its_rules_are_others(tmp_path, fact):
    async with scheduling(tmp_path) as scheduler:
        await scheduler.create(cron="0 18 * * *")
    await moved_elsewhen(tmp_path, fact)

    async with scheduling(tmp_path) as scheduler:
        assert await shown(scheduler) == {1: (ROME, "2027-01-15T17:00Z")}


async def test_a_start_in_the_same_zone_with_the_same_rules_finds_nothing_anew(tmp_path):
    """Ten thousand expressions would make each start slow."""
    async with scheduling(tmp_path) as scheduler:
        await scheduler.create(cron="0 18 * * *")
    await moved_elsewhen(tmp_path)

    async with scheduling(tmp_path) as scheduler:
        assert await shown(scheduler) == {1: (ROME, "2030-01-01T00:00Z")}


async def test_a_start_that_is_cut_off_leaves_the_old_zone_and_the_next_one_moves_all(tmp_path):
    async with scheduling(tmp_path) as scheduler:
        for _ in range(3):
            await scheduler.create(cron="0 18 * * *")

    disk = Disk(f"disk of {tmp_path}")
    try:
        async with store_in(tmp_path, vfs=disk.name) as store:
            disk.full = True
            with pytest.raises(StartRefused, match="is full: free some space, then start again"):
                await zone_in_force.follow(store, ZoneInfo(NEW_YORK))
            left = store.read(lambda db: schedule_rows.page(db, None, None, 9))
            disk.full = False
    finally:
        disk.unregister()
    async with scheduling(tmp_path, zone=NEW_YORK) as scheduler:
        after = await shown(scheduler)

    assert {schedule.zone for schedule in left} == {ROME}
    assert set(after.values()) == {(NEW_YORK, "2027-01-15T23:00Z")}


def test_zones_of_other_rules_are_told_apart_and_the_same_rules_are_the_same():
    found = {zone: zone_rules.fingerprint(zone) for zone in (ROME, NEW_YORK, TOKYO, "UTC")}

    assert len(set(found.values())) == 4
    assert found == {zone: zone_rules.fingerprint(zone) for zone in found}


def test_the_machines_own_rules_count_where_it_has_them(tmp_path):
    """They are what times are read by, and newer than the package's after an update of the machine."""
    (tmp_path / "Europe").mkdir()
    (tmp_path / ROME).write_bytes(b"as of today")
    reset_tzpath(to=[])
    try:
        packaged = zone_rules.fingerprint(ROME)
        reset_tzpath(to=[str(tmp_path)])
        machines = zone_rules.fingerprint(ROME)
    finally:
        reset_tzpath()

    assert machines != packaged
