"""A bench for each test: a Bot API server, an agent, a clock that stands still, gateways on one folder."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.agent_groups import GroupsAgentServicer
from tests.fakes.agent_servicer import agent_serving
from tests.fakes.bot_api import OWNER, BotApi, listening
from tests.fakes.telegram_bench import Bench, Running
from tests.fakes.telegram_house import House, at_home


@pytest.fixture
def agent() -> GroupsAgentServicer:
    return GroupsAgentServicer()


@pytest.fixture
async def bench(tmp_path: Path, agent: GroupsAgentServicer) -> AsyncIterator[Bench]:
    async with listening(BotApi()) as api, agent_serving(agent) as loopback:
        yield Bench(tmp_path / "telegram", api, agent, loopback.address)


@pytest.fixture
async def running(bench: Bench) -> AsyncIterator[Running]:
    """A gateway whose owner is set and whose place in the events is known."""
    async with bench.running() as gateway:
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        bench.api.chats.add(OWNER)
        yield gateway


@pytest.fixture
async def house(bench: Bench, agent: GroupsAgentServicer) -> AsyncIterator[House]:
    """A gateway in whose groups the bot hears everything."""
    bench.api.privacy = False
    async with at_home(bench, agent) as house:
        yield house
