"""A Bot API server and an agent, and runs of the real telegram service on one data folder, to be killed."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Generic, TypeVar

from onechat_runtime.tokens import CALLERS, ensure_tokens, read_token

from tests.fakes.agent_servicer import AgentServicer, agent_serving
from tests.fakes.bot_api import OWNER, TOKEN, BotApi, listening
from tests.fakes.telegram_process import TelegramProcess

A = TypeVar("A", bound=AgentServicer)


class Scene(Generic[A]):
    """What outlives the runs."""

    def __init__(self, data: Path, api: BotApi, agent: A, agent_address: str) -> None:
        self.api = api
        self.agent = agent
        self.data = data
        self._environ = {
            "TELEGRAM_TOKEN": TOKEN,
            "TELEGRAM_OWNER_ID": str(OWNER),
            "TELEGRAM_BASE_URL": api.address,
            "ONECHAT_AGENT_ADDRESS": agent_address,
        }

    def start(self, place: str = "", nth: int = 1) -> TelegramProcess:
        return TelegramProcess(self.data, self._environ, place, nth)

    @asynccontextmanager
    async def settled(self, condition: Callable[[], bool]) -> AsyncIterator[None]:
        """A run that is not killed, from its start until `condition` holds."""
        process = self.start()
        try:
            await self.api.until(condition, within_s=30)
            yield
        finally:
            assert await process.stop() == 0


@asynccontextmanager
async def scene_with(agent: A, data: Path, *, privacy: bool = True) -> AsyncIterator[Scene[A]]:
    """A scene whose owner's chat is open; its first run is over."""
    data.mkdir()
    ensure_tokens(data)
    tokens = {caller: read_token(data / "tokens" / caller) for caller in CALLERS}
    async with listening(BotApi()) as api, agent_serving(agent, tokens=tokens) as loopback:
        scene = Scene(data, api, agent, loopback.address)
        api.privacy = privacy
        api.chats.add(OWNER)
        async with scene.settled(lambda: bool(agent.subscribed) or api.calls["getUpdates"] > 0):
            await agent.until(lambda: bool(agent.subscribed))
        yield scene
