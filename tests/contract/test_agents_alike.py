"""What clients and gateways count on of the agent service: the real one and each double of it pass this.

A double that keeps less would let tests pass that fail with the service.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any

import grpc
import pytest
from onechat.agent.v1 import agent_service_pb2, agent_service_pb2_grpc, delivery_pb2, image_pb2
from onechat.common.v1.chunk_pb2 import Chunk
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_clients import ChatAgent
from tests.fakes.agent_house import living
from tests.fakes.agent_servicer import AgentServicer, agent_serving
from tests.fakes.loopback import Loopback
from tests.fakes.memory_server import remembering
from tests.fakes.pictures import PNG
from tests.fakes.scripted_model import ScriptedModel

KINDS = ("service", "gateway's double", "chat's double")
CALL_S = 20.0


@pytest.fixture(params=KINDS)
async def loopback(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Loopback]:
    """An agent that answers every message with a turn."""
    async with AsyncExitStack() as stack:
        if request.param == "service":
            memory = await stack.enter_async_context(remembering(tmp_path / "memory"))
            model = await stack.enter_async_context(ScriptedModel.serving())
            house = await stack.enter_async_context(living(tmp_path, memory, model))
            yield house.loopback
            return
        double = chat_double() if request.param == "chat's double" else AgentServicer(replies=replied)
        yield await stack.enter_async_context(agent_serving(double))


@pytest.fixture
def agent(loopback: Loopback) -> Any:
    """A stub of the operator's."""
    return agent_service_pb2_grpc.AgentServiceStub(loopback.channel())


@pytest.fixture
def to_agent(loopback: Loopback) -> Any:
    """A stub of the gateway to WhatsApp."""
    return agent_service_pb2_grpc.AgentServiceStub(loopback.channel("whatsapp"))


def replied(delivery: delivery_pb2.NewDelivery) -> str:
    return f"to {delivery.text}"


def chat_double() -> ChatAgent:
    double = ChatAgent()

    async def answer(delivery: delivery_pb2.NewDelivery) -> None:
        await double.answer(delivery.key, replied(delivery), turn=f"turn of {delivery.key}")

    double.on_delivery = answer
    return double


async def deliver(agent: Any, key: str, text: str) -> Any:
    delivery = delivery_pb2.NewDelivery(key=key, text=text, backed=True)
    return await agent.Deliver(agent_service_pb2.DeliverRequest(deliveries=[delivery]), timeout=CALL_S)


async def command(agent: Any, line: str, request_id: str = "") -> str:
    request = agent_service_pb2.RunCommandRequest(line=line, request_id=request_id)
    answer: str = (await agent.RunCommand(request, timeout=CALL_S)).answer
    return answer


async def events(agent: Any, replies: int, **place: Any) -> list[Any]:
    """What a subscription opens with, and the kept events up to so many replies."""
    seen = []
    request = agent_service_pb2.SubscribeRequest(**place)
    async with asyncio.timeout(CALL_S):
        async for response in agent.Subscribe(request, timeout=CALL_S):
            kind = response.WhichOneof("item")
            if kind in ("ready", "event"):
                seen.append(response)
            if sum(one.event.HasField("reply") for one in seen) == replies and replies:
                break
            if not replies and kind == "ready":
                break
    return seen


async def refused(call: Any) -> RemoteError:
    with pytest.raises(RemoteError) as raised:
        await call
    return raised.value


async def test_a_delivery_that_comes_again_is_answered_alike_and_taken_once(agent: Any) -> None:
    """A gateway whose answer was lost sends it again; the user must not get two replies."""
    first = await deliver(agent, "k:1", "one")
    again = await deliver(agent, "k:1", "one")
    await events(agent, 1, after=0)  # else both may share a turn
    await deliver(agent, "k:2", "two")
    seen = await events(agent, 2, after=0)

    assert first.deliveries[0].key == again.deliveries[0].key == "k:1"
    assert first.deliveries[0].delivery_id == again.deliveries[0].delivery_id
    assert len({one.event.turn for one in seen if one.event.HasField("reply")}) == 2


async def test_a_known_key_with_other_words_is_refused(agent: Any) -> None:
    await deliver(agent, "k:1", "one")

    error = await refused(deliver(agent, "k:1", "another"))

    assert (error.code, error.reason) == (grpc.StatusCode.ALREADY_EXISTS, "KEY_REUSED")


async def test_a_known_key_with_another_id_of_the_chat_is_refused(to_agent: Any) -> None:
    """A gateway fixes what it says of a batch before it hands it over the first time."""
    lid, number = "whatsapp:111222333444@lid", "whatsapp:15550002222@s.whatsapp.net"

    async def batch(former: str) -> Any:
        new = delivery_pb2.NewDelivery(key="k:1", text="hello", source=number, former_source=former)
        return await to_agent.Deliver(agent_service_pb2.DeliverRequest(deliveries=[new]), timeout=CALL_S)

    first = await batch(lid)
    again = await batch(lid)

    assert first.deliveries[0].delivery_id == again.deliveries[0].delivery_id
    for other in ("", "whatsapp:999888777666@lid"):
        error = await refused(batch(other))
        assert (error.code, error.reason) == (grpc.StatusCode.ALREADY_EXISTS, "KEY_REUSED")


async def test_a_subscription_opens_with_its_place_and_goes_on_from_any(agent: Any) -> None:
    opened = (await events(agent, 0))[0]
    await deliver(agent, "k:1", "one")
    _, *after = await events(agent, 1, after=opened.number, stream=opened.stream)
    _, *rest = await events(agent, 1, after=after[0].event.number, stream=opened.stream)

    numbers = [one.event.number for one in after]
    assert opened.HasField("ready")
    assert opened.stream
    assert numbers == sorted(set(numbers))
    assert numbers[0] > opened.number
    assert [one.event.number for one in rest] == numbers[1:]


@pytest.mark.parametrize("place", [{"after": 1, "stream": "of another store"}, {"after": 1_000}])
async def test_a_place_that_is_not_here_is_refused_with_where_to_go_on(
    agent: Any, place: dict[str, Any]
) -> None:
    """A client of a restored store would else wait for ever for what it has missed."""
    await deliver(agent, "k:1", "one")

    error = await refused(events(agent, 1, **place))

    assert (error.code, error.reason) == (grpc.StatusCode.OUT_OF_RANGE, "EVENTS_GONE")
    assert error.metadata["oldest"].isdigit()
    assert error.metadata["stream"]


@pytest.mark.parametrize("line", ["hello", "/etc/hosts", "", "/"])
async def test_a_line_that_is_no_command_is_refused(agent: Any, line: str) -> None:
    error = await refused(command(agent, line))

    assert (error.code, error.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "NOT_A_COMMAND")


async def test_a_command_under_a_used_id_gets_its_first_answer(agent: Any) -> None:
    first = await command(agent, "/stop", "r:1")
    again = await command(agent, "/stop", "r:1")
    error = await refused(command(agent, "/stop all", "r:1"))

    assert first == again
    assert (error.code, error.reason) == (grpc.StatusCode.ALREADY_EXISTS, "KEY_REUSED")


async def put_image(agent: Any, content: bytes, digest: bytes | None = None) -> str:
    async def requests() -> AsyncIterator[image_pb2.PutImageRequest]:
        yield image_pb2.PutImageRequest(chunk=Chunk(content=content))
        yield image_pb2.PutImageRequest(chunk=Chunk(sha256=digest or sha256(content).digest()))

    return str((await agent.PutImage(requests(), timeout=CALL_S)).name)


async def test_an_image_has_one_name_and_comes_back_as_it_was(agent: Any) -> None:
    first, again = [await put_image(agent, PNG) for _ in range(2)]

    call = agent.GetImage(image_pb2.GetImageRequest(name=first), timeout=CALL_S)
    chunks = [answer.chunk async for answer in call]

    assert first == again == f"{sha256(PNG).hexdigest()[:16]}.png"
    assert b"".join(chunk.content for chunk in chunks) == PNG
    assert chunks[-1].sha256 == sha256(PNG).digest()


@pytest.mark.parametrize(("content", "digest"), [(b"no image" * 10, None), (PNG, bytes(32)), (b"", None)])
async def test_what_is_no_whole_image_is_refused(agent: Any, content: bytes, digest: bytes | None) -> None:
    with pytest.raises(RemoteError) as refused:
        await put_image(agent, content, digest)

    assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "IMAGE_INVALID")


async def test_an_image_that_nobody_stored_is_not_found(agent: Any) -> None:
    call = agent.GetImage(image_pb2.GetImageRequest(name="0123456789abcdef.png"), timeout=CALL_S)

    with pytest.raises(RemoteError) as refused:
        _ = [answer async for answer in call]

    assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.NOT_FOUND, "IMAGE_UNKNOWN")


async def test_what_a_gateway_tells_the_user_is_an_event_once_for_its_key(agent: Any, to_agent: Any) -> None:
    first = agent_service_pb2.TellUserRequest(key="lost:1", text="WhatsApp is away.")
    again = agent_service_pb2.TellUserRequest(key="lost:1", text="In other words.")
    for request in (first, again):
        await to_agent.TellUser(request, timeout=CALL_S)
    await deliver(agent, "k:1", "hello")

    seen = await events(agent, 1, after=0)

    assert [one.event.notice.text for one in seen if one.event.HasField("notice")] == ["WhatsApp is away."]


@pytest.mark.parametrize(
    ("key", "text"), [("", "x"), ("k" * 201, "x"), ("k", ""), ("k", " \n"), ("k", "x" * 2_001)]
)
async def test_what_is_no_notice_is_refused(to_agent: Any, key: str, text: str) -> None:
    request = agent_service_pb2.TellUserRequest(key=key, text=text)

    with pytest.raises(RemoteError) as refused:
        await to_agent.TellUser(request, timeout=CALL_S)

    assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "NOTICE_INVALID")


async def test_without_a_route_there_is_none_to_list(agent: Any) -> None:
    answer = await agent.ListRoutes(agent_service_pb2.ListRoutesRequest(), timeout=CALL_S)

    assert (list(answer.routes), answer.next_page_token) == ([], "")
