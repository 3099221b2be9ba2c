"""A clock that is set either way, and a machine that slept; 2026-01-01 10:00 in Rome at first."""

from datetime import UTC, datetime, timedelta

from tests.fakes.scheduler_bench import START, Bench, Running

MINUTE = 60.0
HOUR = 3600.0
DAY = 86400.0


async def test_an_alarm_that_rings_because_the_clock_went_back_gives_nothing(
    bench: Bench, running: Running
) -> None:
    """What wakes the ticker says nothing of the time; the wall clock does."""
    await running.set(at="2026-01-01 10:30")
    await bench.at_rest(running)

    bench.alarm.set_clock(-2 * HOUR)
    await bench.at_rest(running)
    assert bench.agent.calls == []
    bench.alarm.advance(2.5 * HOUR)
    await bench.at_rest(running)

    assert [taken.time for taken in bench.agent.taken.values()] == [START + timedelta(minutes=30)]


async def test_a_clock_set_forward_gives_at_once_and_says_how_late(bench: Bench, running: Running) -> None:
    await running.set("call", at="2026-01-01 10:30")
    await bench.at_rest(running)

    bench.alarm.set_clock(2 * HOUR)
    await bench.at_rest(running)

    (text,) = bench.agent.texts()
    assert "1 hour 30 minutes late" in text


async def test_what_ran_before_the_clock_was_set_back_does_not_run_again(
    bench: Bench, running: Running
) -> None:
    await running.set(cron="0 * * * *")
    await bench.at_rest(running)
    bench.alarm.advance(HOUR)
    await bench.at_rest(running)

    bench.alarm.set_clock(-30 * MINUTE)
    await bench.at_rest(running)
    bench.alarm.advance(HOUR)
    await bench.at_rest(running)
    assert len(bench.agent.calls) == 1
    bench.alarm.advance(30 * MINUTE)
    await bench.at_rest(running)

    assert [taken.run.due.hour for taken in bench.agent.taken.values()] == [10, 11]


async def test_a_machine_that_slept_from_friday_to_sunday_gives_one_run_for_all(
    bench: Bench, running: Running
) -> None:
    await running.set("look", cron="0 12 * * *")
    await bench.at_rest(running)

    bench.alarm.sleep_machine(3 * DAY)
    await bench.at_rest(running)

    (taken,) = bench.agent.taken.values()
    assert taken.run.due == datetime(2026, 1, 3, 11, tzinfo=UTC)
    assert "one run for the 3 that were due since 2026-01-01 at 12:00" in taken.run.text


async def test_a_clock_far_behind_what_ran_is_told_of_until_it_has_caught_up(
    bench: Bench, running: Running
) -> None:
    await running.set(cron="0 12 * * *")
    await bench.at_rest(running)
    bench.alarm.set_clock(365 * DAY)
    await bench.at_rest(running)

    bench.alarm.set_clock(-365 * DAY)
    await bench.at_rest(running)
    told = dict(running.board.troubles())
    bench.advance_to(datetime(2026, 12, 31, 10, tzinfo=UTC))
    await bench.at_rest(running)

    assert "The clock stands before 2026-12-31 12:00 (Europe/Rome)" in told["clock"].sentence
    assert running.board.troubles() == {}
    assert len(bench.agent.taken) == 1


async def test_a_clock_behind_by_less_than_an_hour_is_nothing_to_tell(bench: Bench, running: Running) -> None:
    await running.set(cron="0 12 * * *")
    await bench.at_rest(running)

    bench.alarm.set_clock(-50 * MINUTE)
    await bench.at_rest(running)

    assert running.board.troubles() == {}


async def test_a_clock_behind_by_more_than_an_hour_is_told_of(bench: Bench, running: Running) -> None:
    await running.set(cron="0 12 * * *")
    await bench.at_rest(running)

    bench.alarm.set_clock(-70 * MINUTE)
    await bench.at_rest(running)

    assert "clock" in running.board.troubles()


async def test_a_start_with_a_clock_that_stands_back_tells_of_it_too(bench: Bench) -> None:
    async with bench.running() as running:
        schedule = await running.set(cron="0 12 * * *")
        await bench.at_rest(running)
    bench.alarm.set_clock(-DAY)

    async with bench.running() as running:
        await bench.at_rest(running)
        told = dict(running.board.troubles())
        await running.remove(schedule.id)
        await bench.at_rest(running)

        assert "clock" in told
        assert running.board.troubles() == {}
