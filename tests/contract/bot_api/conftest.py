"""A stand-in Bot API server with a clock that stands still, and what calls it."""

from collections.abc import AsyncIterator

import aiohttp
import pytest
import telegram
from telegram.request import HTTPXRequest

from tests.fakes.bot_api import OWNER, BotApi, listening
from tests.fakes.bot_api_readers import Caller, Hands


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
async def api(clock: Hands) -> AsyncIterator[BotApi]:
    async with listening(BotApi(now=clock)) as api:
        api.chats.add(OWNER)
        yield api


@pytest.fixture
async def call(api: BotApi) -> AsyncIterator[Caller]:
    async with aiohttp.ClientSession() as session:
        yield Caller(api, session)


@pytest.fixture
async def bot(api: BotApi) -> AsyncIterator[telegram.Bot]:
    """A bot of python-telegram-bot."""
    plain = {"trust_env": False, "verify": False}
    requests = [HTTPXRequest(httpx_kwargs=plain) for _ in range(2)]
    yield telegram.Bot(
        api.token,
        base_url=f"{api.address}/bot",
        base_file_url=f"{api.address}/file/bot",
        request=requests[0],
        get_updates_request=requests[1],
    )
    for request in requests:
        await request.shutdown()


@pytest.fixture
def crew(api: BotApi) -> int:
    """A supergroup with the bot as a plain member; what founding it made is read."""
    chat = api.groups.found("Crew", [7, 8])
    api.updates.clear()
    return chat


@pytest.fixture
def open_crew(api: BotApi) -> int:
    """The same with a bot that was added while privacy mode was off."""
    api.privacy = False
    chat = api.groups.found("Crew", [7, 8])
    api.updates.clear()
    return chat


@pytest.fixture
def forum(api: BotApi) -> int:
    """The same with topics, open too."""
    api.privacy = False
    chat = api.groups.found("Crew", [7, 8], forum=True)
    api.updates.clear()
    return chat
