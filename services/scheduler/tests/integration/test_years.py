"""Many schedules through weeks and years, killed at commits and calls: each run once, none early, none lost.

The clock is turned from instant to instant. When each run should come, another library says.
"""

import random
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from onechat_scheduler.domain.recurrence import COUNT_MAX
from onechat_scheduler.domain.schedule import Run

from tests.fakes.clock import ManualClock
from tests.fakes.disk import Disk
from tests.fakes.manual_alarm import ManualAlarm
from tests.fakes.many_schedules import Kept
from tests.fakes.scheduler_bench import Bench, Killed, Running
from tests.fakes.woken_agent import WokenAgent

PLACES = 8  #: at which a run can be killed: 3 each at the record and the settling, 2 at the call
COUNTED = re.compile(r"one run for the (?P<more>more than )?(?P<count>[\d,]+) that were due since")


@pytest.mark.parametrize(
    ("zone", "start"),
    [
        ("Europe/Rome", datetime(2026, 3, 26, 9, 3, tzinfo=UTC)),
        pytest.param("America/New_York", datetime(2026, 10, 29, 9, 3, tzinfo=UTC), marks=pytest.mark.soak),
    ],
)
async def test_a_week_with_a_change_of_the_clocks_and_sixty_kills(
    tmp_path: Path, disk: Disk, zone: str, start: datetime
) -> None:
    await killed_through(tmp_path, disk, zone, start, days=7, schedules=80, kills=60, runs_max=1_200)


@pytest.mark.soak
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("zone", ["Europe/Rome", "America/New_York"])
async def test_a_year_of_two_hundred_schedules_and_five_hundred_kills(
    tmp_path: Path, disk: Disk, zone: str
) -> None:
    start = datetime(2026, 1, 1, 0, 3, tzinfo=UTC)
    await killed_through(tmp_path, disk, zone, start, days=365, schedules=200, kills=500, runs_max=50_000)


async def killed_through(
    folder: Path,
    disk: Disk,
    zone: str,
    start: datetime,
    *,
    days: int,
    schedules: int,
    kills: int,
    runs_max: int,
) -> None:
    """Time stands still while it is down, so each run comes on time, whatever is killed."""
    rng = random.Random(f"{zone} {days} 7")
    bench = Bench(folder / "scheduler", disk, zone, ManualClock(start))
    end = start + timedelta(days=days)
    kept = Kept(bench, end)
    async with bench.running() as running:
        await kept.set(running, rng, schedules)
    instants = len({instant for runs in kept.runs.values() for instant in runs})
    assert runs_max / 4 < kept.count <= runs_max, kept.count

    while bench.clock.now() < end:
        if bench.strikes.kills < kills:
            bench.strikes.next_at = bench.strikes.passed + rng.randrange(
                1, 3 * instants * PLACES // (2 * kills)
            )
        try:
            async with bench.running() as running:
                await to_the_end(bench, running, end)
        except Killed:
            pass

    assert bench.strikes.kills == kills
    due = {(taken.run.schedule, taken.run.due) for taken in bench.agent.taken.values()}
    assert due == {(schedule, instant) for schedule, runs in kept.runs.items() for instant in runs}
    assert len(bench.agent.taken) == kept.count
    assert all(taken.time == taken.run.due for taken in bench.agent.taken.values())
    assert not [text for text in bench.agent.texts() if "\n" in text], "none was late"
    assert max(bench.agent.given.values()) > 1, "killed after a call, it gives the same words again"


async def to_the_end(bench: Bench, running: Running, end: datetime) -> None:
    """Turn the clock from one instant at which something is due to the next."""
    await bench.at_rest(running)
    while bench.clock.now() < end:
        bench.advance_to(end if bench.alarm.instant is None else min(bench.alarm.instant, end))
        await bench.at_rest(running)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.soak)])
async def test_three_rough_weeks_in_which_every_run_is_given_or_counted_once(
    tmp_path: Path, disk: Disk, seed: int
) -> None:
    """The clock jumps both ways, the machine sleeps, the service is off or killed, the agent goes away."""
    rng = random.Random(seed)
    start = datetime(2026, 3, 15, 9, 3, tzinfo=UTC)
    bench = Bench(tmp_path / "scheduler", disk, "Europe/Rome", ManualClock(start))
    end = start + timedelta(days=21)
    bench.meet(WokenAgent(Furthest(bench.alarm)))
    kept = Kept(bench, end + timedelta(days=10))  # a jump may go beyond the end
    async with bench.running() as running:
        await kept.set(running, rng, 25)
        for often in ("*/20 * * * *", "0 * * * *", "30 */3 * * *"):
            await kept.set_cron(running, often)

    while bench.clock.now() < end:
        try:
            async with bench.running() as running:
                await roughly(bench, running, rng, end)
        except Killed:
            pass
        bench.alarm.sleep_machine(rng.choice((0, 0, 60, 7 * 3600)))
    bench.agent.away, bench.strikes.next_at = False, None
    async with bench.running() as running:
        running.agent_serves(True)
        await to_the_end(bench, running, end + timedelta(days=1))

    taken = list(bench.agent.taken.values())
    assert all(one.run.due <= one.time for one in taken), "none before the clock had shown its time"
    for schedule, runs in kept.runs.items():
        came = [run for run in runs if run <= bench.alarm.furthest]
        assert accounted(came, [one.run for one in taken if one.run.schedule == schedule])
    assert any(COUNTED.search(one.run.text) for one in taken)


class Furthest(ManualClock):
    """The latest that another clock has ever shown."""

    def __init__(self, alarm: ManualAlarm) -> None:
        super().__init__()
        self._alarm = alarm

    def now(self) -> datetime:
        return self._alarm.furthest


async def roughly(bench: Bench, running: Running, rng: random.Random, end: datetime) -> None:
    """Some days of it, until the process is killed or ended."""
    running.agent_serves(not bench.agent.away)
    for _ in range(rng.randrange(10, 40)):
        await at_rest_but_for_away(bench, running)
        match rng.randrange(12):
            case 0:
                bench.alarm.set_clock(rng.choice((-5400, -600, 600, 10_800)))
            case 1:
                bench.alarm.sleep_machine(rng.randrange(60, 40_000))
            case 2:
                bench.agent.away = True
                running.agent_serves(False)
            case 3 | 4:
                bench.agent.away = False
                running.agent_serves(True)
            case 5:
                bench.strikes.next_at = bench.strikes.passed + rng.randrange(1, 3 * PLACES)
            case _ if bench.alarm.instant is not None:
                bench.advance_to(bench.alarm.instant)
        if bench.clock.now() >= end:
            return
    await at_rest_but_for_away(bench, running)


async def at_rest_but_for_away(bench: Bench, running: Running) -> None:
    """While the agent service is away, what was recorded stays."""
    if not bench.agent.away:
        await bench.at_rest(running)
    else:
        await bench.ticker_at_rest(running)


def accounted(runs: list[datetime], given: list[Run]) -> bool:
    """Whether what was given, each standing for as many as it says up to its own, is all of `runs`."""
    place = 0
    for run in given:
        found = COUNTED.search(run.text)
        before, place = place, runs.index(run.due) + 1
        stands_for = place - before
        if found is None and stands_for != 1:
            return False
        if found and found["more"] and stands_for <= COUNT_MAX:
            return False
        if found and not found["more"] and stands_for != int(found["count"].replace(",", "")):
            return False
    return place == len(runs)
