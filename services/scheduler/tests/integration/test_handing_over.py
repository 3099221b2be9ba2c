"""Recorded runs on their way to the agent service: it is away, the disk is full, one is removed meanwhile."""

import asyncio
from datetime import UTC, datetime

from onechat_scheduler.adapters import schedule_rows
from onechat_scheduler.adapters.agent import RUNS_MAX
from onechat_scheduler.domain.schedule import Run

from tests.fakes.disk import Disk
from tests.fakes.scheduler_bench import DUE, OWNER, SOON, Bench, Running, key_of

HOUR = 3600.0


async def test_a_one_time_schedule_goes_once_its_run_is_stored(bench: Bench, running: Running) -> None:
    await running.set("once", at=SOON)
    again = await running.set("again", cron="30 10 * * *")

    await bench.until_due(running)

    assert len(bench.agent.taken) == 2
    assert [one.id for one in running.schedules()] == [again.id]


async def test_while_the_agent_is_away_a_one_time_schedule_stays_and_is_listed(
    bench: Bench, running: Running
) -> None:
    bench.agent.away = True
    schedule = await running.set(at=SOON)

    await bench.until_due(running, runs_left=1)

    assert [(one.id, one.next_time) for one in running.schedules()] == [(schedule.id, DUE)]


async def test_an_hour_away_is_some_seventy_tries_at_the_most_and_loses_nothing(
    bench: Bench, running: Running
) -> None:
    bench.agent.away = True
    await running.set_many(1000, DUE)
    await bench.until_due(running, runs_left=1000)
    for _ in range(360):
        bench.alarm.advance(10.0)
        await bench.at_rest(running, runs_left=1000)
    tries = len(bench.agent.calls)

    bench.agent.away = False
    bench.alarm.advance(80.0)
    await bench.at_rest(running)

    assert 50 <= tries <= 80
    assert len(bench.agent.taken) == 1000
    assert set(bench.agent.given.values()) == {1}


async def test_an_answer_that_was_lost_leads_to_the_same_words_again_and_one_delivery(
    bench: Bench, running: Running
) -> None:
    bench.agent.answers_lost = 3
    schedule = await running.set(at=SOON)
    await bench.until_due(running, runs_left=1)

    for _ in range(3):
        bench.alarm.advance(10.0)
        await bench.at_rest(running, runs_left=1 if bench.agent.answers_lost else 0)

    assert bench.agent.given == {key_of(schedule.id): 4}
    assert len(bench.agent.taken) == 1
    assert running.schedules() == []


async def test_the_longest_due_go_first_many_in_a_call(bench: Bench, running: Running) -> None:
    bench.agent.away = True
    await running.set_many(300, DUE)
    await bench.until_due(running, runs_left=300)
    late = await running.set(at="2026-01-01 10:31")
    bench.advance_to(datetime(2026, 1, 1, 9, 31, tzinfo=UTC))
    await bench.at_rest(running, runs_left=301)
    bench.agent.calls.clear()

    bench.agent.away = False
    running.agent_serves(True)
    await bench.at_rest(running)

    assert list(map(len, bench.agent.calls)) == [RUNS_MAX, 301 - RUNS_MAX]
    assert list(bench.agent.taken)[-1] == f"schedule:{late.id}:2026-01-01T09:31Z"


async def test_a_schedule_removed_while_its_run_waits_is_not_given(bench: Bench, running: Running) -> None:
    bench.agent.away = True
    schedule = await running.set(at=SOON)
    await bench.until_due(running, runs_left=1)
    await running.remove(schedule.id)

    bench.agent.away = False
    bench.alarm.advance(HOUR)
    await bench.at_rest(running)

    assert bench.agent.taken == {}


async def test_a_schedule_removed_while_its_run_is_being_given_leaves_nothing_behind(
    bench: Bench, running: Running
) -> None:
    bench.agent.hold = asyncio.Event()
    going = await running.set("going", cron="30 10 * * *")
    staying = await running.set("staying", cron="30 10 * * *")
    await bench.at_rest(running)
    bench.advance_to(DUE)
    await bench.agent.until(lambda: len(bench.agent.taken) == 2)

    await running.remove(going.id)
    bench.agent.hold.set()
    await bench.at_rest(running)

    assert [one.id for one in running.schedules()] == [staying.id]
    assert running.runs() == []
    assert len(bench.agent.taken) == 2


async def test_a_full_disk_at_the_settling_gives_the_same_words_again_and_no_second_delivery(
    bench: Bench, running: Running, disk: Disk
) -> None:
    bench.agent.hold = asyncio.Event()
    schedule = await running.set(at=SOON)
    await bench.at_rest(running)
    bench.advance_to(DUE)
    await bench.agent.until(lambda: len(bench.agent.taken) == 1)
    disk.full = True
    bench.agent.hold.set()
    await bench.clock.until_sleeping()

    disk.full = False
    bench.alarm.advance(2.0)
    await bench.at_rest(running)

    assert bench.agent.given == {key_of(schedule.id): 2}
    assert len(bench.agent.taken) == 1
    assert running.schedules() == []


async def test_runs_that_an_earlier_process_recorded_are_given_at_the_start_in_its_words(
    bench: Bench,
) -> None:
    async with bench.running() as running:
        schedule = await running.set("as it is set now", at=SOON)
        worded = Run(schedule=schedule.id, owner=OWNER, due=DUE, text="as it was worded", backed=False)
        await running.store.write(lambda db: schedule_rows.record(db, worded, DUE, None))

    async with bench.running() as running:
        await bench.at_rest(running)

    assert [taken.run for taken in bench.agent.taken.values()] == [worded]
