"""What the agent service gets of a run."""

from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp
from onechat.agent.v1 import delivery_pb2
from onechat_scheduler.adapters.agent import Agent
from onechat_scheduler.domain.schedule import OwnerId, Run, ScheduleId

from tests.fakes.agent_servicer import AgentServicer, agent_serving


async def test_a_run_is_work_for_its_owner_under_a_key_of_its_instant_and_wakes_it():
    agent = AgentServicer()
    due = datetime(2027, 3, 28, 1, tzinfo=UTC)
    run = Run(schedule=ScheduleId(3), owner=OwnerId("child-id"), due=due, text="[Schedule 3] go", backed=True)

    async with agent_serving(agent) as loopback:
        await Agent(loopback.channel("scheduler")).deliver([run])

    assert list(agent.deliveries.values()) == [
        delivery_pb2.NewDelivery(
            key="schedule:3:2027-03-28T01:00Z",
            to="child-id",
            source="schedule:3",
            kind=delivery_pb2.DELIVERY_KIND_WORK,
            text="[Schedule 3] go",
            time=Timestamp(seconds=1806195600),
            wakes_root=True,
            backed=True,
        )
    ]


async def test_whether_the_user_stood_behind_it_is_handed_on_as_it_was_when_it_was_set():
    agent = AgentServicer()
    due = datetime(2027, 3, 28, 1, tzinfo=UTC)
    run = Run(schedule=ScheduleId(3), owner=OwnerId("id"), due=due, text="go", backed=False)

    async with agent_serving(agent) as loopback:
        await Agent(loopback.channel("scheduler")).deliver([run])

    assert [delivery.backed for delivery in agent.deliveries.values()] == [False]
