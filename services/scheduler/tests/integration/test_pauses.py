"""How long the hand-over waits between two tries while the agent service is away."""

from datetime import timedelta

import grpc
import pytest
from onechat_runtime.errors import RemoteError

from tests.fakes.scheduler_bench import SOON, Bench, Running, key_of


async def pauses(bench: Bench, running: Running, count: int) -> list[float]:
    """The next pauses between two tries, while the agent is away and one run waits."""
    lengths = []
    for _ in range(count):
        await bench.clock.until_sleeping()
        lengths.append(bench.clock.sleepers[0])
        bench.alarm.advance(lengths[-1])
        await bench.at_rest(running, runs_left=1)
    return lengths


async def test_pauses_double_from_a_second_to_a_minute(bench: Bench, running: Running) -> None:
    bench.agent.away = True
    await running.set(at=SOON)
    await bench.until_due(running, runs_left=1)

    lengths = await pauses(bench, running, 8)

    assert lengths == [pytest.approx(base, rel=0.21) for base in (1, 2, 4, 8, 16, 32, 60, 60)]


async def test_pauses_are_spread_by_chance(bench: Bench, running: Running) -> None:
    """Else all that waited for one service would come to it at the same moments."""
    bench.agent.away = True
    await running.set(at=SOON)
    await bench.until_due(running, runs_left=1)

    lengths = await pauses(bench, running, 10)

    assert len(set(lengths[-3:])) == 3


async def test_an_agent_that_came_back_and_fails_again_is_tried_again_soon(
    bench: Bench, running: Running
) -> None:
    bench.agent.away = True
    await running.set(at=SOON)
    await bench.until_due(running, runs_left=1)
    await pauses(bench, running, 7)

    running.agent_serves(True)
    await bench.at_rest(running, runs_left=1)

    assert bench.clock.sleepers == [pytest.approx(1, rel=0.21)]


async def test_a_run_that_comes_due_shortens_no_pause(bench: Bench, running: Running) -> None:
    bench.agent.away = True
    await running.set(at=SOON)
    await bench.until_due(running, runs_left=1)
    await pauses(bench, running, 5)
    tries = len(bench.agent.calls)

    await running.set_many(1, bench.clock.now() + timedelta(seconds=5))
    bench.alarm.advance(5.0)
    await bench.at_rest(running, runs_left=2)

    assert len(bench.agent.calls) == tries


async def test_when_the_agents_health_comes_back_nothing_waits_for_the_pause(
    bench: Bench, running: Running
) -> None:
    running.agent_serves(True)
    bench.agent.away = True
    await running.set(at=SOON)
    await bench.until_due(running, runs_left=1)
    running.agent_serves(False)
    bench.agent.away = False
    await bench.at_rest(running, runs_left=1)

    running.agent_serves(True)
    await bench.at_rest(running)

    assert len(bench.agent.taken) == 1


async def test_a_delay_that_the_agent_names_is_kept(bench: Bench, running: Running) -> None:
    schedule = await running.set(at=SOON)
    full = RemoteError(grpc.StatusCode.RESOURCE_EXHAUSTED, "full", reason="STORE_FULL", retry_after_s=30.0)
    bench.agent.refused[key_of(schedule.id)] = full

    await bench.until_due(running, runs_left=1)

    assert bench.clock.sleepers == [30.0]
    assert running.board.troubles() == {}


async def test_pauses_begin_anew_once_a_call_was_answered(bench: Bench, running: Running) -> None:
    bench.agent.away = True
    await running.set(at=SOON)
    await bench.until_due(running, runs_left=1)
    await pauses(bench, running, 7)
    bench.agent.away = False
    bench.alarm.advance(80.0)
    await bench.at_rest(running)

    bench.agent.away = True
    await running.set_many(1, bench.clock.now() + timedelta(seconds=5))
    bench.alarm.advance(5.0)
    await bench.at_rest(running, runs_left=1)

    assert bench.clock.sleepers == [pytest.approx(1, rel=0.21)]
