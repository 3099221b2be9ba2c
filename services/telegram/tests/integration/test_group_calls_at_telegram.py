"""The operator's calls on groups, all the way to Telegram and to the agent service."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from onechat.telegram.v1 import telegram_service_pb2 as v1
from onechat.telegram.v1 import telegram_service_pb2_grpc
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_groups import GroupsAgentServicer
from tests.fakes.agent_servicer import agent_serving
from tests.fakes.bot_api import OWNER, BotApi, listening
from tests.fakes.telegram_bench import Bench, Running

Call = Callable[..., Awaitable[Any]]


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Running]:
    """A gateway whose owner is set, and an agent service that has agents of groups."""
    agent = GroupsAgentServicer()
    async with listening(BotApi()) as api, agent_serving(agent) as loopback:
        bench = Bench(tmp_path / "telegram", api, agent, loopback.address)
        async with bench.running() as gateway:
            await agent.until(lambda: bool(agent.subscribed))
            api.chats.add(OWNER)
            yield gateway


@pytest.fixture
async def garden(running: Running) -> int:
    """A group to which the owner has added the bot, and is asked about it."""
    chat = running.api.groups.found("Garden")
    await running.api.until(lambda: any("Garden" in text for text in running.api.texts(OWNER)))
    return chat


@pytest.fixture
def call(running: Running) -> Call:
    stub: Any = telegram_service_pb2_grpc.TelegramServiceStub(running.loopback.channel("operator"))

    async def made(method: str, **fields: Any) -> Any:
        return await getattr(stub, method)(getattr(v1, f"{method}Request")(**fields), timeout=20)

    return made


def inside(running: Running, chat: int) -> bool:
    """Whether the bot is in the group."""
    return running.api.directory.groups[chat].member(running.api.bot_id).inside


async def test_a_group_is_listed_admitted_set_and_left(running: Running, garden: int, call: Call) -> None:
    (listed,) = (await call("ListGroups")).groups
    admitted = (await call("AdmitGroup", chat_id=garden)).group
    wanted = v1.Group(chat_id=garden, detector=v1.DETECTOR_MODEL, names=["kobold"], learn=True)
    was_set = (await call("SetGroup", group=wanted)).group
    was_in = inside(running, garden)

    await call("RemoveGroup", chat_id=garden)

    assert (listed.chat_id, listed.title, listed.admitted) == (garden, "Garden", False)
    assert (admitted.admitted, admitted.agent_id) == (True, "group-1")
    assert (was_set.detector, was_set.names, was_set.agent_id) == (v1.DETECTOR_MODEL, ["kobold"], "group-1")
    assert (was_in, inside(running, garden)) == (True, False)
    assert list((await call("ListGroups")).groups) == []


async def test_a_group_is_kept_while_telegram_cannot_be_asked(
    running: Running, garden: int, call: Call
) -> None:
    """What it says of that may hold nothing of the call, whose address has the token."""
    running.api.fail("leaveChat", how="drop", times=None)

    with pytest.raises(RemoteError) as refused:
        await call("RemoveGroup", chat_id=garden)
    kept = (await call("ListGroups")).groups
    running.api.heal()
    await call("RemoveGroup", chat_id=garden)

    assert refused.value.reason == "NOT_CONNECTED"
    assert running.api.token.split(":")[1] not in refused.value.message
    assert len(kept) == 1
    assert not inside(running, garden)


async def test_flood_control_tells_the_operator_how_long_to_wait(
    running: Running, garden: int, call: Call
) -> None:
    running.api.fail("leaveChat", code=429, retry_after=9, times=None)

    with pytest.raises(RemoteError) as refused:
        await call("RemoveGroup", chat_id=garden)

    assert (refused.value.reason, refused.value.retry_after_s) == ("NOT_CONNECTED", 9.0)


async def test_a_group_that_the_bot_was_taken_out_of_is_left_all_the_same(
    running: Running, garden: int, call: Call
) -> None:
    """Telegram refuses to have it left once more, by a 400 or 403."""
    running.api.fail("leaveChat", code=403, description="Forbidden: bot is not a member of the chat")

    await call("RemoveGroup", chat_id=garden)

    assert list((await call("ListGroups")).groups) == []
