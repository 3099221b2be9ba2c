"""10,000 events of the library's own kind with the user's number in every spelling: nothing tells it.

From real protobuf events through the wire's own frames and the whole gateway to the bytes that the agent
service gets: deliveries, notices, what is found, contacts, status.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from onechat.agent.v1.agent_service_pb2 import TellUserRequest
from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1
from onechat_whatsapp.wire.codec import body_of_event, event_in
from onechat_whatsapp.wire_child.translation import translated

from tests.fakes.agent_servicer import AgentServicer, agent_serving
from tests.fakes.whatsapp_events import MISSING
from tests.fakes.whatsapp_gateway_bench import GatewayBench, Running
from tests.fakes.whatsapp_scripts import heard
from tests.fakes.whatsapp_spellings import LID, USERS, Fuzz, User, strings_in, tells

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

EVENTS = 10_000
TASTE = 500
LIVE = 20  # of the events: they come when the catch-up is over
CALL_S = 20.0
WITHIN_S = 60.0


def came(agent: AgentServicer, text: str) -> bool:
    """Whether that message was handed over."""
    return any(text in delivery.text for delivery in agent.deliveries.values())


async def turned_until(running: Running, reached: Callable[[], bool]) -> None:
    """Let time pass until it is reached."""
    async with asyncio.timeout(WITHIN_S):
        while not reached():
            if not running.wire.pending:
                running.clock.advance(20)
            await asyncio.sleep(0.001)


async def found_by(running: Running, asked: str) -> AsyncIterator[Any]:
    """All pages of a search."""
    token = ""
    while True:
        request = v1.FindChatsRequest(name=asked, page_size=7, page_token=token)
        page = await running.stub.FindChats(request, timeout=CALL_S)
        yield page
        if not (token := page.next_page_token):
            return


async def all_that_left(user: User, folder: Path, events: int) -> list[Any]:
    """The protobuf messages that the agent service got of so many events."""
    chance = random.Random(int(user.number) + events)
    fuzz = Fuzz(user, chance)
    script = [
        event_in(body_of_event(ours)) for number in range(events) for ours in translated(fuzz.event(number))
    ]
    agent = AgentServicer()
    async with agent_serving(agent) as loopback:
        bench = GatewayBench(folder, fuzz.account(), agent, loopback.address)
        bench.account.come(*script[:-LIVE], heard("all caught up"))
        async with bench.running() as running:
            await turned_until(running, lambda: came(agent, "all caught up"))
            bench.account.come(*script[-LIVE:], heard("the end"))
            await turned_until(running, lambda: came(agent, "the end") and bool(agent.told))
            asked = ["", "a", user.number, user.rest, LID, *(fuzz.spelled() for _ in range(20))]
            left = [page for each in asked async for page in found_by(running, each)]
            left.append(await running.stub.ListContacts(v1.ListContactsRequest(), timeout=CALL_S))
            left.append(await running.stub.GetStatus(v1.GetStatusRequest(), timeout=CALL_S))
    assert left[0].chats, "some are found"
    assert not any(LID in chat.chat_id for page in left[:-1] for chat in getattr(page, "chats", ()))
    notices = [TellUserRequest(key=key, text=text) for key, text in agent.told.items()]
    return [*agent.deliveries.values(), *notices, *left]


async def nothing_tells(user: User, folder: Path, events: int) -> None:
    left = await all_that_left(user, folder, events)

    for message in left:
        content = message.SerializeToString()
        assert user.number.encode() not in content
        assert LID.encode() not in content
        for written in strings_in(message):
            assert not tells(written, user), written
    texts = [message.text for message in left if hasattr(message, "source")]
    assert sum(text.count("\n20") for text in texts) > events / 2, "most events are messages that are read"
    assert any("OWN" in text for text in texts)
    assert any("@you" in text for text in texts)
    assert any('" (OWN-1500000000@g.us)' in text for text in texts)
    assert any(" You: " in text for text in texts)


@pytest.mark.parametrize("user", USERS, ids=lambda user: user.code)
async def test_nothing_that_leaves_tells_the_users_number(user: User, tmp_path: Path) -> None:
    await nothing_tells(user, tmp_path / "whatsapp", TASTE // len(USERS))


@pytest.mark.soak
@pytest.mark.parametrize("user", USERS, ids=lambda user: user.code)
async def test_nothing_of_ten_thousand_events_tells_it(user: User, tmp_path: Path) -> None:
    await nothing_tells(user, tmp_path / "whatsapp", EVENTS // len(USERS))


@pytest.mark.parametrize("user", USERS, ids=lambda user: user.code)
def test_each_spelling_that_is_played_would_be_seen(user: User) -> None:
    """Else the tests above would hold for anything."""
    fuzz = Fuzz(user, random.Random(1))

    assert all(tells(f"call {fuzz.spelled()} now", user) for _ in range(200))
    assert not tells("call OWN, +15559990000 or @you at 12:30", user)
