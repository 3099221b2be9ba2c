"""Whatever call outside the store fails, before or after its effect: all is taken and said once."""

import asyncio
import re
from pathlib import Path

import pytest
from onechat_telegram.groups import batch_rows
from onechat_telegram.groups.domain.settings import DetectorKind, GroupSettings

from tests.fakes.group_bench import LOOK_S, WITHIN_S, GroupBench, RunningGroups
from tests.fakes.group_platform import Trip

STEPS = 45  # of the talk below; a test holds that there are no more


def talk(bench: GroupBench) -> None:
    """A bit of everything."""
    say, whisper = bench.platform.say, bench.platform.whisper
    say("garden", "bob", "the spade is red")
    say("garden", "anna", "robo, which colour")
    say("garden", "anna", "/bot status")
    say("garden", "bob", "/bot status")
    whisper("bob", "between us")
    whisper("bob", "2")
    whisper("bob", "/bot group")
    whisper("bob", "1")
    whisper("zoe", "let me in")
    say("garden", "anna", "/bot clear-memory")
    say("garden", "anna", "/bot clear-memory yes")
    say("garden", "bob", "a fresh start")
    say("garden", "anna", "@robobot hi")
    say("elsewhere", "bob", "@robobot hi")


async def over(running: RunningGroups) -> None:
    """All is handed over; what waits for its next try gets it, and batches their end."""
    bench = running.bench
    async with asyncio.timeout(WITHIN_S):
        while bench.platform.not_taken or running.outbox.waiting() or running.store.read(batch_rows.batches):
            if not bench.platform.not_taken and bench.clock.sleepers:
                bench.clock.advance(60)
            await asyncio.sleep(LOOK_S)


async def told(folder: Path, at: int) -> tuple[dict[str, object], int]:
    """What has come of the talk with a failure at a step, and how many steps were left."""
    bench = GroupBench(folder)
    bench.platform.room("garden", "Garden", "anna", "bob", administrators=("anna",))
    bench.platform.room("cars", "Cars", "bob")
    bench.platform.room("elsewhere", "Elsewhere", "bob")
    bench.agents.meant = lambda text: text.startswith("robo,")
    async with bench.running() as running:
        await running.admit("garden", GroupSettings(detector=DetectorKind.HYBRID, names=("robo",)))
        await running.admit("cars")
        trip = bench.agents.step = Trip(at)
        talk(bench)
        await over(running)
    logs = {**bench.agents.logs, **bench.agents.kept}
    came = {
        "logs": {
            name: [line for each in log for line in each.text.splitlines() if "[" not in line]
            for name, log in logs.items()
        },
        "turns": {name: [each.key for each in log if each.wakes] for name, log in logs.items()},
        # How much of it the agent has by then is chance.
        "said": sorted(
            (each.place.chat, re.sub(r"Messages: \d+", "", each.text)) for each in bench.platform.shown
        ),
        "refused": [each.sender.id for each in bench.platform.refused],
        "owner": list(bench.owner.told.values()),
        "outside": [name for name, room in bench.platform.rooms.items() if not room.bot_inside],
    }
    return came, trip.left


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    came, left = asyncio.run(told(tmp_path_factory.mktemp("undisturbed"), 1000))
    assert 1000 - left <= STEPS
    return came


async def test_an_undisturbed_talk_comes_out_as_it_should(undisturbed: dict[str, object]) -> None:
    assert undisturbed["refused"] == ["zoe"]
    assert undisturbed["outside"] == ["elsewhere"]
    assert [len(turns) for turns in undisturbed["turns"].values()] == [1, 0, 2]


@pytest.mark.parametrize("at", range(STEPS))
async def test_a_call_that_fails_loses_and_doubles_nothing(
    tmp_path: Path, undisturbed: dict[str, object], at: int
) -> None:
    came, _ = await told(tmp_path, at)

    # The minute that a line shows is when it was written, which a retry does not change.
    assert came == undisturbed
