"""The real telegram, agent and memory services between a Bot API server and a model that a test directs.

Times are seconds.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from onechat.telegram.v1 import telegram_service_pb2, telegram_service_pb2_grpc

from tests.fakes.bot_api import OWNER, TOKEN, BotApi, listening
from tests.fakes.five_services import LOOK_S, FiveServices, Forks, five_services
from tests.fakes.five_services_chat import CALL_S, Chat, again, chatting
from tests.fakes.scripted_model import ScriptedModel

RUNNING: Final = ("memory", "agent", "telegram")
WITHIN_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OverTelegram:
    """What a test acts on and looks at."""

    services: FiveServices
    chat: Chat  #: which sees all events
    api: BotApi
    model: ScriptedModel

    @property
    def telegram(self) -> Any:
        """The telegram service as the operator reaches it."""
        return telegram_service_pb2_grpc.TelegramServiceStub(self.services.channel(service="telegram"))

    async def press(self, button: str, about: str) -> None:
        """Press a button of the question that names `about`, until no button is left of it.

        There may be two of it, one of them a repeat: where it is not known that one is there, its buttons
        stay until they are pressed too.
        """
        await self.api.until(lambda: bool(self._with_buttons(about)), WITHIN_S)
        pressed: set[int] = set()
        while there := self._with_buttons(about):
            for message in there - pressed:
                self.api.callbacks.press(message, button)
            pressed |= there
            await self.api.until(lambda: self._with_buttons(about) != there, WITHIN_S)

    async def all_heard(self) -> None:
        """Return once all that was said has been taken, and whoever it was for is done with it."""
        await self.api.until(lambda: not self.api.updates, WITHIN_S)
        async with asyncio.timeout(WITHIN_S):
            while (await self._status()).inbox:
                await asyncio.sleep(LOOK_S)
        await self.chat.all_done(set(), WITHIN_S)

    async def has_sent_all(self) -> bool:
        """Whether the gateway has nothing on its way, in or out."""
        status = await self._status()
        return not status.inbox and not status.outbox

    async def _status(self) -> telegram_service_pb2.GetStatusResponse:
        asked = telegram_service_pb2.GetStatusRequest()
        return await again(lambda: self.telegram.GetStatus(asked, timeout=CALL_S))

    def _with_buttons(self, about: str) -> set[int]:
        shown = [one for one in self.api.sent if "reply_markup" in one and about in one["text"]]
        return {one["message_id"] for one in shown}


@asynccontextmanager
async def over_telegram(
    forks: Forks, folder: Path, *, bot: str = "onechat_test_bot"
) -> AsyncIterator[OverTelegram]:
    """The services, not started yet; `bot` is the bot's user name."""
    async with (
        listening(BotApi(username=bot)) as api,
        ScriptedModel.serving() as model,
        five_services(
            forks,
            folder,
            OPENAI_BASE_URL=model.base_url,
            TELEGRAM_TOKEN=TOKEN,
            TELEGRAM_OWNER_ID=str(OWNER),
            TELEGRAM_BASE_URL=api.address,
        ) as services,
        chatting(services) as chat,
    ):
        yield OverTelegram(services=services, chat=chat, api=api, model=model)
