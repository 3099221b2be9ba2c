"""An agent's house at work over five processes: undisturbed, and killed at points that have names.

Only the service that is struck starts again, and each time the same stands in every log and the user gets the
same replies. What is said and answered: household.py. The points: household_points.py.
"""

import asyncio
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes.commit_points import commit_points
from tests.fakes.five_services import REPOSITORY, SERVICES, Forks
from tests.fakes.five_services_census import VARIABLE
from tests.fakes.five_services_chat import again
from tests.fakes.five_services_points import COMMIT_OF
from tests.system import household
from tests.system.household import CALENDAR, HOUSE, ROOT
from tests.system.household_left import Left, differences, left_by
from tests.system.household_points import (
    AGENT,
    BESIDE,
    MEMORY,
    OTHERS,
    QUICK,
    TWICE,
    in_runs,
    points,
)
from tests.system.household_run import household_in
from tests.system.household_strikes import left_after, live_through, struck

PACKAGE = REPOSITORY / "services" / "agent" / "src" / "onechat_agent"
SEED = 20261130
KILLS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Undisturbed:
    """A run in which nobody was killed."""

    left: Left
    passes: tuple[str, ...]  #: the steps, in their order

    @property
    def passed(self) -> Counter[str]:
        """How often each step was passed."""
        return Counter(self.passes)


@pytest.fixture(scope="module")
def undisturbed(forks: Forks, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    folder = tmp_path_factory.mktemp("undisturbed")
    census = folder / "census"
    left = asyncio.run(left_after(forks, folder, **{VARIABLE: str(census)}))
    assert left is not None
    return Undisturbed(left=left, passes=tuple(census.read_text().splitlines()))


def test_root_children_and_subagents_do_their_parts_and_the_user_gets_every_reply(
    undisturbed: Undisturbed,
) -> None:
    left = undisturbed.left
    replies = [text for who, _, text in left.replies if who == ROOT]
    assert sorted(replies) == sorted([*household.REPLIES, household.PLATE])
    assert [who for who, key, _, _ in left.logged if key == "d:(said:plumber)"] == [
        HOUSE
    ]  # a batch wakes House alone
    assert left.routes == ((household.SCHOOL, CALENDAR),)
    assert left.faults == ()


def test_the_list_names_every_step_that_a_household_passes(undisturbed: Undisturbed) -> None:
    assert set(undisturbed.passed) - set(BESIDE) == {*AGENT, *MEMORY}


def test_every_commit_of_the_agent_is_struck_or_has_a_reason_why_not() -> None:
    here = {step.removeprefix(f"{COMMIT_OF}onechat_agent.") for step in (*AGENT, *BESIDE)}
    there = {name.removeprefix("onechat_agent.") for name in commit_points(PACKAGE)}

    assert there - here == set(OTHERS)


async def test_killed_at_ten_points_a_household_ends_as_if_nobody_had_been(
    forks: Forks, tmp_path: Path, undisturbed: Undisturbed
) -> None:
    runs = in_runs(QUICK, undisturbed.passes)

    assert await struck(forks, tmp_path, undisturbed.left, runs) == {}


@pytest.mark.soak
@pytest.mark.timeout(600)
async def test_the_agent_killed_around_each_of_its_steps_changes_nothing(
    forks: Forks, tmp_path: Path, undisturbed: Undisturbed
) -> None:
    once = in_runs(points(AGENT, undisturbed.passed), undisturbed.passes)

    assert await struck(forks, tmp_path, undisturbed.left, [*once, *TWICE]) == {}


@pytest.mark.soak
@pytest.mark.timeout(600)
async def test_the_memory_killed_around_each_of_its_commits_changes_nothing(
    forks: Forks, tmp_path: Path, undisturbed: Undisturbed
) -> None:
    once = in_runs(points(MEMORY, undisturbed.passed), undisturbed.passes)

    assert await struck(forks, tmp_path, undisturbed.left, once) == {}


@pytest.mark.soak
@pytest.mark.timeout(300)
async def test_killed_twenty_times_wherever_they_are_five_services_end_as_if_nobody_had_been(
    forks: Forks, tmp_path: Path, undisturbed: Undisturbed
) -> None:
    async with household_in(forks, tmp_path) as house:
        await house.services.start(*SERVICES)
        await live_through(house, random.Random(SEED), KILLS)
        left = await again(lambda: left_by(house.chat))

        assert sum(house.services.kills.values()) == KILLS
        assert house.model.refusals() == []
    assert differences(undisturbed.left, left) == []
