"""What is recorded and when, on a clock that a test turns; 2026-01-01 10:00 in Rome at first."""

from datetime import UTC, datetime, timedelta

from onechat_scheduler.domain.schedule import OwnerId
from onechat_scheduler.ticker import LONGEST_PAUSE_S

from tests.fakes.clock import ManualClock
from tests.fakes.disk import Disk
from tests.fakes.scheduler_bench import START, Bench, Running

MINUTE = 60.0
HOUR = 3600.0


async def test_a_run_due_exactly_now_is_given(bench: Bench, running: Running) -> None:
    schedule = await running.set("water the plants", at="2026-01-01 10:30")
    await bench.at_rest(running)

    bench.alarm.advance(30 * MINUTE)
    await bench.at_rest(running)

    (taken,) = bench.agent.taken.values()
    assert taken.run.text == f"[Schedule {schedule.id}] water the plants"
    assert taken.run.key == f"schedule:{schedule.id}:2026-01-01T09:30Z"
    assert taken.time == taken.run.due == START + timedelta(minutes=30)


async def test_nothing_is_given_a_moment_early(bench: Bench, running: Running) -> None:
    await running.set(at="2026-01-01 10:30")
    await bench.at_rest(running)

    bench.alarm.advance(30 * MINUTE - 0.000_001)
    running.ticker.nudge()
    await bench.at_rest(running)

    assert bench.agent.calls == []


async def test_a_scheduler_that_was_off_gives_late_runs_at_its_start_and_goes_on(bench: Bench) -> None:
    async with bench.running() as running:
        once = await running.set("once", at="2026-01-01 12:37")
        again = await running.set("again", cron="37 12 * * *")
        await bench.at_rest(running)
    bench.alarm.advance(11 * HOUR)

    async with bench.running() as running:
        await bench.at_rest(running)
        left = running.schedules()

    assert [text.splitlines()[0] for text in bench.agent.texts()] == [
        f"[Schedule {once.id}] once",
        f"[Schedule {again.id}] again",
    ]
    assert all("8 hours 23 minutes late" in text for text in bench.agent.texts())
    assert [(one.id, one.next_time) for one in left] == [(again.id, datetime(2026, 1, 2, 11, 37, tzinfo=UTC))]


async def test_ten_thousand_due_at_one_instant_are_each_given_once(bench: Bench, running: Running) -> None:
    await running.set_many(10_000, START + timedelta(minutes=30))
    await bench.at_rest(running)

    bench.alarm.advance(30 * MINUTE)
    await bench.at_rest(running)

    assert len(bench.agent.taken) == 10_000
    assert set(bench.agent.given.values()) == {1}
    assert max(map(len, bench.agent.calls)) <= 256
    assert running.schedules() == []


async def test_long_work_on_what_is_due_is_cut_into_several_commits(bench: Bench, disk: Disk) -> None:
    """Else a call that sets a schedule would wait for all of it."""
    slow = Bench(bench.path.parent, disk, clock=SlowClock(START))
    async with slow.running() as running:
        await running.set_many(10, START + timedelta(minutes=30))
        await slow.at_rest(running)
        passed = slow.strikes.passed
        slow.alarm.advance(HOUR)
        await slow.at_rest(running)

        commits = (slow.strikes.passed - passed) // 3
    assert len(slow.agent.taken) == 10
    assert commits >= 10 / 2 + 1


class SlowClock(ManualClock):
    """Whoever looks at it finds that some work has taken its time."""

    def monotonic(self) -> float:
        self._monotonic += 0.06
        return super().monotonic()


async def test_at_rest_nothing_is_polled(bench: Bench, running: Running, disk: Disk) -> None:
    """One sleeper, the alarm, however many schedules there are."""
    for number in range(100):
        await running.set(cron=f"{number % 60} 12 * * *")
    await bench.at_rest(running)
    writes, waits = disk.writes, bench.alarm.waits

    bench.alarm.advance(HOUR)
    await bench.at_rest(running)

    assert bench.clock.sleepers == []
    assert (disk.writes, bench.alarm.waits) == (writes, waits)
    assert bench.alarm.instant == datetime(2026, 1, 1, 11, tzinfo=UTC)


async def test_without_a_schedule_there_is_no_instant_to_wake_at(bench: Bench, running: Running) -> None:
    await bench.at_rest(running)

    assert bench.alarm.instant is None
    assert bench.clock.sleepers == []


async def test_an_earlier_schedule_moves_the_alarm_and_its_removal_moves_it_back(
    bench: Bench, running: Running
) -> None:
    await running.set(at="2026-01-01 18:00")
    sooner = await running.set(at="2026-01-01 11:00")
    await bench.at_rest(running)
    first = bench.alarm.instant

    await running.remove(sooner.id)
    await bench.at_rest(running)

    assert (first, bench.alarm.instant) == (
        datetime(2026, 1, 1, 10, tzinfo=UTC),
        datetime(2026, 1, 1, 17, tzinfo=UTC),
    )


async def test_a_schedule_with_a_run_that_waits_gets_no_second_one(bench: Bench, running: Running) -> None:
    """The agent service is away for an hour: then it gets the first run, and one for all the later ones."""
    bench.agent.away = True
    schedule = await running.set("look", cron="*/10 * * * *")
    await bench.at_rest(running)
    for _ in range(6):
        bench.alarm.advance(10 * MINUTE)
        await bench.at_rest(running, runs_left=1)

    bench.agent.away = False
    running.agent_serves(True)
    await bench.at_rest(running)

    first, rest = bench.agent.texts()
    assert first == f"[Schedule {schedule.id}] look"
    assert "one run for the 5 that were due since 2026-01-01 at 10:20" in rest
    assert [taken.run.due.minute for taken in bench.agent.taken.values()] == [10, 0]


async def test_a_full_disk_at_the_record_holds_the_run_until_there_is_room(
    bench: Bench, running: Running, disk: Disk
) -> None:
    schedule = await running.set("look", cron="0 12 * * *")
    await bench.at_rest(running)
    disk.full = True
    bench.alarm.advance(2 * HOUR)
    await bench.clock.until_sleeping()
    assert bench.agent.calls == []
    assert "store_full" in running.board.troubles()

    disk.full = False
    bench.alarm.advance(LONGEST_PAUSE_S)
    await bench.at_rest(running)

    (text,) = bench.agent.texts()
    assert text.startswith(f"[Schedule {schedule.id}] look")
    assert "late" in text


async def test_the_runs_of_many_owners_go_to_their_own(bench: Bench, running: Running) -> None:
    for owner in ("one", "two"):
        await running.set(owner, at="2026-01-01 10:30", owner=OwnerId(owner))
    await bench.at_rest(running)

    bench.alarm.advance(30 * MINUTE)
    await bench.at_rest(running)

    assert [(t.run.owner, t.run.text[-3:]) for t in bench.agent.taken.values()] == [
        ("one", "one"),
        ("two", "two"),
    ]


async def test_what_is_removed_before_its_time_never_runs(bench: Bench) -> None:
    async with bench.running() as running:
        schedule = await running.set(at="2026-01-01 10:30")
        await running.remove(schedule.id)
        await bench.at_rest(running)
        bench.alarm.advance(HOUR)
        await bench.at_rest(running)

    assert bench.agent.calls == []
