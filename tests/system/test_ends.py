"""SIGTERM in the middle of work: each service ends in ten seconds, and the next start goes on with it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.bot_api import OWNER, TOKEN, BotApi, listening
from tests.fakes.five_services import SERVICES, FiveServices, Forks, five_services, until
from tests.fakes.five_services_chat import Chat, chatting
from tests.fakes.five_services_model import ModelProcess, model_process
from tests.system.test_crash_points import UNKNOWN

WITHIN_S = 10.0


class Bench:
    """All five, with a user at a terminal and in Telegram."""

    def __init__(self, services: FiveServices, chat: Chat, model: ModelProcess, api: BotApi) -> None:
        self.services = services
        self.chat = chat
        self.model = model
        self.api = api

    async def restarted(self, *names: str) -> None:
        """Each ends in time, and is started again."""
        for name in names:
            assert await self.services.stop(name) < WITHIN_S, name
            await self.services.start(name)


@pytest.fixture
async def bench(forks: Forks, tmp_path: Path) -> AsyncIterator[Bench]:
    async with (
        listening(BotApi()) as api,
        model_process(forks, tmp_path) as model,
        five_services(
            forks,
            tmp_path,
            OPENAI_BASE_URL=model.base_url,
            TELEGRAM_TOKEN=TOKEN,
            TELEGRAM_OWNER_ID=str(OWNER),
            TELEGRAM_BASE_URL=api.address,
        ) as services,
        chatting(services) as chat,
    ):
        await services.start(*SERVICES)
        yield Bench(services, chat, model, api)


async def test_a_turn_that_waits_for_the_model_is_left_in_time_and_taken_up_again(bench: Bench) -> None:
    await bench.model.script({"gate": "held", "purpose": "turn", "times": 0})
    bench.api.say("a question from Telegram")
    await bench.model.reached("held")

    await bench.restarted(*SERVICES)
    await bench.model.open("held")

    await bench.api.until(lambda: bool(bench.api.sent), within_s=60)
    assert "a question from Telegram" in bench.api.texts()[0]
    kept = await bench.chat.kept_events()
    assert len([event for event in kept if event.HasField("reply")]) == 1
    assert await bench.model.refusals() == []


async def test_a_command_at_work_ends_with_its_service_and_the_model_is_told(
    bench: Bench, tmp_path: Path
) -> None:
    asking = asyncio.ensure_future(bench.chat.ask("run `touch begun; sleep 300; touch ended`", key="slow"))
    await until((tmp_path / "workspace" / "begun").exists)

    await bench.restarted("agent", "memory")

    assert UNKNOWN in await asking
    assert not (tmp_path / "workspace" / "ended").exists()
