"""Runs that the agent service refuses: kept, shown, tried again, and in nobody's way."""

import asyncio
from datetime import UTC, datetime

import grpc
from onechat_runtime.errors import RemoteError
from onechat_scheduler.adapters.agent import RUNS_MAX
from onechat_scheduler.domain.schedule import Run

from tests.fakes.scheduler_bench import DUE, OWNER, SOON, Bench, Running, key_of

HOUR = 3600.0
INVALID = RemoteError(grpc.StatusCode.INVALID_ARGUMENT, "no", reason="DELIVERY_INVALID")


async def test_one_that_is_refused_holds_up_no_other_and_is_shown_and_kept(
    bench: Bench, running: Running
) -> None:
    schedules = [await running.set(f"task {number}", at=SOON) for number in range(5)]
    bench.agent.refused[key_of(schedules[2].id)] = INVALID

    await bench.until_due(running, runs_left=1)

    assert [text[-1] for text in bench.agent.texts()] == ["0", "1", "3", "4"]
    (trouble,) = running.board.troubles().values()
    assert trouble.sentence == (
        f"A run of schedule {schedules[2].id} could not be given: the agent service refuses it"
        " (INVALID_ARGUMENT DELIVERY_INVALID). It is kept and tried again. To drop it, remove the schedule."
    )


async def test_several_that_are_refused_are_one_sentence(bench: Bench, running: Running) -> None:
    for schedule in [await running.set(f"task {number}", at=SOON) for number in range(3)]:
        bench.agent.refused[key_of(schedule.id)] = INVALID

    await bench.until_due(running, runs_left=3)

    (trouble,) = running.board.troubles().values()
    assert trouble.sentence == (
        "Runs of schedule 1 and 2 more could not be given: the agent service refuses them (the first:"
        " INVALID_ARGUMENT DELIVERY_INVALID). They are kept and tried again. To drop one, remove its"
        " schedule."
    )


async def test_one_that_is_refused_is_tried_ever_more_seldom_until_it_is_taken(
    bench: Bench, running: Running
) -> None:
    schedule = await running.set(at=SOON)
    bench.agent.refused[key_of(schedule.id)] = INVALID
    await bench.until_due(running, runs_left=1)
    for _ in range(24 * 60):
        bench.alarm.advance(60.0)
        await bench.at_rest(running, runs_left=1)
    tries = len(bench.agent.calls)

    bench.agent.refused.clear()
    bench.alarm.advance(1.3 * HOUR)
    await bench.at_rest(running)

    assert 20 <= tries <= 40
    assert len(bench.agent.taken) == 1
    assert running.board.troubles() == {}


async def test_an_agent_that_came_back_is_asked_again_about_what_it_refused(
    bench: Bench, running: Running
) -> None:
    """It may be another version, or may have been told to allow it."""
    schedule = await running.set(at=SOON)
    bench.agent.refused[key_of(schedule.id)] = INVALID
    await bench.until_due(running, runs_left=1)
    bench.agent.refused.clear()

    running.agent_serves(True)
    await bench.at_rest(running)

    assert len(bench.agent.taken) == 1


async def test_more_refused_ones_than_a_call_takes_do_not_hide_those_behind_them(
    bench: Bench, running: Running
) -> None:
    await running.set_many(RUNS_MAX + 10, DUE)
    for one in running.schedules():
        bench.agent.refused[key_of(one.id)] = INVALID
    await bench.until_due(running, runs_left=RUNS_MAX + 10)
    await running.set("behind", at="2026-01-01 10:31")
    await bench.at_rest(running, runs_left=RUNS_MAX + 10)

    bench.advance_to(datetime(2026, 1, 1, 9, 31, tzinfo=UTC))
    await bench.at_rest(running, runs_left=RUNS_MAX + 10)

    assert [text.partition("] ")[2] for text in bench.agent.texts()] == ["behind"]


async def test_a_run_that_the_agent_knows_in_other_words_was_given_and_is_settled(
    bench: Bench, running: Running
) -> None:
    """An earlier version may have worded it before it was killed."""
    other = await running.set("a", at=SOON)
    known = await running.set("b", at=SOON)
    worded = Run(schedule=known.id, owner=OWNER, due=DUE, text="[old] b", backed=True)
    await bench.agent.deliver([worded])

    await bench.until_due(running)

    assert bench.agent.texts() == ["[old] b", f"[Schedule {other.id}] a"]
    assert running.schedules() == []


async def test_a_fault_of_our_own_in_a_call_is_a_refusal_of_that_run_alone(
    bench: Bench, running: Running
) -> None:
    bad = await running.set("bad", at=SOON)
    await running.set("good", at=SOON)
    unusual: dict[str, Exception] = {key_of(bad.id): ValueError("of a library")}
    bench.agent.refused = unusual  # type: ignore[assignment]

    await bench.until_due(running, runs_left=1)

    assert [text[-4:] for text in bench.agent.texts()] == ["good"]
    assert "ValueError" in next(iter(running.board.troubles().values())).sentence


async def test_a_refused_run_whose_schedule_was_removed_is_no_trouble_any_more(
    bench: Bench, running: Running
) -> None:
    schedule = await running.set(at=SOON)
    bench.agent.refused[key_of(schedule.id)] = INVALID
    await bench.until_due(running, runs_left=1)
    assert running.board.troubles() != {}

    await running.remove(schedule.id)
    await bench.at_rest(running)

    assert running.board.troubles() == {}
    assert bench.clock.sleepers == []


async def test_a_schedule_removed_while_others_of_its_call_go_one_by_one_is_not_given(
    bench: Bench, running: Running
) -> None:
    bench.agent.hold = asyncio.Event()
    first, gone, bad = [await running.set(text, at=SOON) for text in ("first", "gone", "bad")]
    bench.agent.refused[key_of(bad.id)] = INVALID
    await bench.at_rest(running)
    bench.advance_to(DUE)
    await bench.agent.until(lambda: len(bench.agent.taken) == 1)

    await running.remove(gone.id)
    bench.agent.hold.set()
    await bench.at_rest(running, runs_left=1)

    assert list(bench.agent.taken) == [key_of(first.id)]
