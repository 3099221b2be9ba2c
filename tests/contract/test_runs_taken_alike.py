"""What the scheduler counts on when it hands runs over: the agent service and each double of it pass this.

That each run comes once is the agent service's promise as much as the scheduler's.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
import pytest
from onechat_runtime.channels import new_channel
from onechat_runtime.errors import RemoteError, retriable
from onechat_scheduler.adapters.agent import RUNS_MAX, Agent, AgentPort
from onechat_scheduler.domain.schedule import OwnerId, Run, ScheduleId

from tests.fakes.agent_house import NOWHERE, living
from tests.fakes.agent_servicer import ROOT, AgentServicer, agent_serving
from tests.fakes.clock import ManualClock
from tests.fakes.memory_server import remembering
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.woken_agent import WokenAgent

DUE = datetime(2026, 11, 30, 8, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taking:
    """Who takes runs, and an owner that it knows."""

    agent: AgentPort
    owner: OwnerId

    def run(self, number: int = 1, text: str = "[Schedule 1] water the plants") -> Run:
        """A run of the schedule `number`."""
        return Run(schedule=ScheduleId(number), owner=self.owner, due=DUE, text=text, backed=True)


@pytest.fixture(params=["service", "gateway's double", "scheduler's double"])
async def taking(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Taking]:
    async with AsyncExitStack() as stack:
        if request.param == "service":
            memory = await stack.enter_async_context(remembering(tmp_path / "memory"))
            model = await stack.enter_async_context(ScriptedModel.serving())
            house = await stack.enter_async_context(living(tmp_path, memory, model))
            yield Taking(agent=Agent(house.loopback.channel("scheduler")), owner=OwnerId(house.seat.id))
        elif request.param == "gateway's double":
            loopback = await stack.enter_async_context(agent_serving(AgentServicer()))
            yield Taking(agent=Agent(loopback.channel("scheduler")), owner=OwnerId(ROOT))
        else:
            yield Taking(agent=WokenAgent(ManualClock()), owner=OwnerId(ROOT))


async def test_a_known_run_in_the_same_words_is_taken_as_done(taking: Taking) -> None:
    await taking.agent.deliver([taking.run()])

    await taking.agent.deliver([taking.run(), taking.run(2)])


async def test_a_known_run_in_other_words_is_refused_and_nothing_of_that_call_is_taken(
    taking: Taking,
) -> None:
    await taking.agent.deliver([taking.run(1)])

    with pytest.raises(RemoteError) as refused:
        await taking.agent.deliver([taking.run(2, "first words"), taking.run(1, "other words")])

    assert (refused.value.reason, retriable(refused.value.code)) == ("KEY_REUSED", False)
    await taking.agent.deliver([taking.run(2, "second words")])  # it would be refused if the first were there


async def test_another_instant_of_the_same_schedule_is_another_run(taking: Taking) -> None:
    await taking.agent.deliver([taking.run()])

    await taking.agent.deliver([replace(taking.run(text="later"), due=DUE + timedelta(minutes=5))])


async def test_as_many_as_a_call_may_have_are_taken_at_once(taking: Taking) -> None:
    longest = "𝄞" * 10_000  # four bytes each

    await taking.agent.deliver([taking.run(number, longest) for number in range(1, RUNS_MAX + 1)])


async def test_an_agent_that_is_away_may_be_asked_again() -> None:
    channel = new_channel(NOWHERE, token="none")
    async with channel:
        with pytest.raises(RemoteError) as away:
            await Agent(channel).deliver([Taking(agent=Agent(channel), owner=OwnerId(ROOT)).run()])

    assert away.value.code is grpc.StatusCode.UNAVAILABLE
