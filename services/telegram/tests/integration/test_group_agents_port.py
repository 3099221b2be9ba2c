"""The agent service as group chats see it, over a channel: how the port speaks the contract."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import grpc
import pytest
from onechat.agent.v1 import agent_service_pb2_grpc, delivery_pb2
from onechat_runtime.errors import RemoteError
from onechat_telegram.adapters.group_agents import GroupAgents
from onechat_telegram.groups.domain.addressing import Judgement
from onechat_telegram.groups.domain.ids import AgentId, ChatId, MessageId, MessageKey, Source, ThreadId
from onechat_telegram.groups.domain.messages import Place
from onechat_telegram.groups.ports import GroupAgent, GroupDelivery, ModelAway, Question

from tests.fakes.agent_groups import GroupsAgentServicer
from tests.fakes.agent_servicer import agent_serving

GARDEN = Source("telegram:-100")
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.fixture
def service() -> GroupsAgentServicer:
    return GroupsAgentServicer()


@pytest.fixture
async def agents(service: GroupsAgentServicer) -> AsyncIterator[GroupAgents]:
    async with agent_serving(service) as loopback:
        yield GroupAgents(agent_service_pb2_grpc.AgentServiceStub(loopback.channel("telegram")))


def delivery(agent: AgentId, *, text: str = "hi", place: Place | None = None) -> GroupDelivery:
    return GroupDelivery(
        key=MessageKey("k1"),
        agent=agent,
        source=GARDEN,
        text=text,
        images=("a.png",),
        time=NOON,
        wakes=place is not None,
        place=place,
    )


async def test_a_group_has_one_agent_however_often_it_is_admitted(
    service: GroupsAgentServicer, agents: GroupAgents
) -> None:
    first = await agents.create(GARDEN, "Garden")

    assert await agents.create(GARDEN, " ") == first
    assert service.groups[GARDEN].area == GARDEN  # a group needs a title there


async def test_an_addressed_message_starts_a_turn_and_says_where_its_answer_goes(
    service: GroupsAgentServicer, agents: GroupAgents
) -> None:
    agent = await agents.create(GARDEN, "Garden")
    place = Place(chat=ChatId("-100"), message=MessageId("7"), thread=ThreadId("4"))

    await agents.deliver(delivery(agent, place=place))

    (came,) = service.logs[agent]
    assert (came.key, came.to, came.source, came.text) == ("k1", agent, GARDEN, "hi")
    assert (came.kind, came.wakes_root, came.backed) == (delivery_pb2.DELIVERY_KIND_WORK, True, False)
    assert (came.reply_to.chat, came.reply_to.message, came.reply_to.topic) == ("-100", "7", "4")
    assert came.time.ToDatetime(UTC) == NOON
    assert list(came.images) == ["a.png"]


async def test_what_is_learned_starts_no_turn_and_has_no_answer(
    service: GroupsAgentServicer, agents: GroupAgents
) -> None:
    agent = await agents.create(GARDEN, "Garden")

    await agents.deliver(delivery(agent))

    (came,) = service.logs[agent]
    assert not came.wakes_root
    assert not came.HasField("reply_to")


async def test_a_message_that_is_there_in_other_words_counts_as_delivered(
    service: GroupsAgentServicer, agents: GroupAgents
) -> None:
    """A newer version may word a message differently that an older one handed over just before it ended."""
    agent = await agents.create(GARDEN, "Garden")
    await agents.deliver(delivery(agent))

    await agents.deliver(delivery(agent, text="hi, reworded"))

    assert [came.text for came in service.logs[agent]] == ["hi"]


async def test_a_delivery_that_is_refused_is_raised(
    service: GroupsAgentServicer, agents: GroupAgents
) -> None:
    agent = await agents.create(GARDEN, "Garden")
    service.fail("Deliver", code=grpc.StatusCode.INVALID_ARGUMENT, reason="DELIVERY_INVALID")

    with pytest.raises(RemoteError):
        await agents.deliver(delivery(agent))


async def test_a_judgement_and_a_model_that_is_away(
    service: GroupsAgentServicer, agents: GroupAgents
) -> None:
    agent = await agents.create(GARDEN, "Garden")
    service.meant = ("robo, hi",)
    question = Question(agent=agent, text="robo, hi", names=("Robo",), before=("Bob: x", "you: y"))

    assert await agents.judge(question) == Judgement(mentions=True)
    (asked,) = service.judged
    assert (asked.agent_id, asked.text, list(asked.names), list(asked.before)) == (
        agent,
        "robo, hi",
        ["Robo"],
        ["Bob: x", "you: y"],
    )

    service.model_away = True
    with pytest.raises(ModelAway):
        await agents.judge(question)


async def test_an_agent_that_had_no_turn_yet_says_so(
    service: GroupsAgentServicer, agents: GroupAgents
) -> None:
    agent = await agents.create(GARDEN, "Garden")
    await agents.deliver(delivery(agent))
    assert await agents.look(agent) == GroupAgent(id=agent, name="Group1", messages=1, last_turn=None)

    service.groups[GARDEN].last_turn_time.FromDatetime(NOON)

    assert (await agents.look(agent)).last_turn == NOON


async def test_a_reset_that_is_asked_for_again_gives_the_same_kept_log(
    service: GroupsAgentServicer, agents: GroupAgents
) -> None:
    agent = await agents.create(GARDEN, "Garden")

    kept = await agents.reset(agent, MessageKey("k9"))

    assert await agents.reset(agent, MessageKey("k9")) == kept
    assert list(service.kept) == [kept]
