"""What the gateway of groups counts on of the agent service: the real one and its double pass this.

Asked through the gateway's own port. How that speaks the contract is services/telegram's own test.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from onechat.agent.v1 import agent_service_pb2_grpc
from onechat_runtime.errors import RemoteError
from onechat_telegram.adapters.group_agents import GroupAgents
from onechat_telegram.groups.domain.ids import AgentId, ChatId, MessageId, MessageKey, Source
from onechat_telegram.groups.domain.messages import Place
from onechat_telegram.groups.ports import GroupDelivery

from tests.fakes.agent_groups import GroupsAgentServicer
from tests.fakes.agent_house import living
from tests.fakes.agent_servicer import agent_serving
from tests.fakes.memory_server import remembering
from tests.fakes.scripted_model import ScriptedModel

GARDEN, CARS = Source("telegram:-100"), Source("telegram:-200")
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
WITHIN_S = 20.0
LOOK_S = 0.02


@pytest.fixture(params=["service", "double"])
async def agents(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[GroupAgents]:
    """The port, before a service whose groups' agents take turns."""
    async with AsyncExitStack() as stack:
        if request.param == "service":
            memory = await stack.enter_async_context(remembering(tmp_path / "memory"))
            model = await stack.enter_async_context(ScriptedModel.serving())
            house = await stack.enter_async_context(living(tmp_path, memory, model))
            yield GroupAgents(house.stub("telegram"))
            return
        loopback = await stack.enter_async_context(agent_serving(GroupsAgentServicer()))
        yield GroupAgents(agent_service_pb2_grpc.AgentServiceStub(loopback.channel("telegram")))


def learned(
    agent: AgentId, key: str, text: str = "the spade is red", source: Source = GARDEN
) -> GroupDelivery:
    return GroupDelivery(
        key=MessageKey(key),
        agent=agent,
        source=source,
        text=text,
        images=(),
        time=NOON,
        wakes=False,
        place=None,
    )


async def until_known(agents: GroupAgents, agent: AgentId, messages: int) -> None:
    """Return once the agent's log holds so many messages."""
    async with asyncio.timeout(WITHIN_S):
        while (await agents.look(agent)).messages < messages:
            await asyncio.sleep(LOOK_S)


async def test_each_group_has_one_agent_of_its_own(agents: GroupAgents) -> None:
    garden, cars = await agents.create(GARDEN, "Garden"), await agents.create(CARS, "Cars")

    assert await agents.create(GARDEN, "The garden") == garden != cars
    assert [(await agents.look(each)).name for each in (garden, cars)] == ["Group1", "Group2"]


async def test_what_is_learned_is_in_the_log_once_without_a_turn(agents: GroupAgents) -> None:
    garden = await agents.create(GARDEN, "Garden")

    for key, text in [("k1", "one"), ("k1", "one"), ("k1", "one, reworded"), ("k2", "two")]:
        await agents.deliver(learned(garden, key, text))

    await until_known(agents, garden, 2)
    look = await agents.look(garden)
    assert (look.messages, look.last_turn) == (2, None)


async def test_a_members_private_message_is_taken_by_the_agent_of_the_group(agents: GroupAgents) -> None:
    garden = await agents.create(GARDEN, "Garden")

    await agents.deliver(learned(garden, "k1", source=Source("telegram:71")))

    await until_known(agents, garden, 1)


async def test_what_a_group_or_a_member_writes_is_for_the_agent_of_that_group_alone(
    agents: GroupAgents,
) -> None:
    """Another group's words would pass for a member's private ones, and the root's agent must get neither."""
    garden, cars = await agents.create(GARDEN, "Garden"), await agents.create(CARS, "Cars")

    for to, source in ((garden, CARS), (AgentId("root"), GARDEN), (AgentId("root"), Source("telegram:71"))):
        with pytest.raises(RemoteError) as refused:
            await agents.deliver(learned(to, "k1", source=source))
        assert refused.value.reason == "DELIVERY_INVALID"

    await agents.deliver(learned(cars, "k1", source=CARS))
    await until_known(agents, cars, 1)
    assert (await agents.look(garden)).messages == 0


async def test_a_reset_begins_a_fresh_log_once_for_its_request(agents: GroupAgents) -> None:
    garden = await agents.create(GARDEN, "Garden")
    await agents.deliver(learned(garden, "k1"))
    await until_known(agents, garden, 1)

    kept = await agents.reset(garden, MessageKey("r1"))
    assert (await agents.look(garden)).messages == 0
    await agents.deliver(learned(garden, "k2"))
    await until_known(agents, garden, 1)

    assert await agents.reset(garden, MessageKey("r1")) == kept
    assert (await agents.look(garden)).messages == 1
    assert await agents.reset(garden, MessageKey("r2")) != kept


async def test_an_agent_that_is_not_there_cannot_be_looked_at_or_reset(agents: GroupAgents) -> None:
    for call in (agents.look(AgentId("nobody")), agents.reset(AgentId("nobody"), MessageKey("r1"))):
        with pytest.raises(RemoteError) as refused:
            await call
        assert refused.value.reason == "AGENT_UNKNOWN"


async def test_a_place_that_an_answer_goes_to_is_taken_with_a_message(agents: GroupAgents) -> None:
    """Ids of a platform may be long; a place without a message to reply to is one too."""
    garden = await agents.create(GARDEN, "Garden")
    place = Place(chat=ChatId("c" * 200), message=MessageId(""))

    await agents.deliver(replace(learned(garden, "k1"), wakes=True, place=place))

    await until_known(agents, garden, 1)
