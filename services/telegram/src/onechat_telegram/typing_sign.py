"""`typing…` in the owner's chat while a turn is at work. Telegram shows it for five seconds at a time."""

import asyncio
from typing import Final

from onechat_runtime.clock import Clock

from onechat_telegram.adapters.bot_api import BotApi
from onechat_telegram.domain.bot_errors import BotApiError, TooManyCalls
from onechat_telegram.domain.ids import private_chat_of
from onechat_telegram.link import Link
from onechat_telegram.ownership import Ownership

AGAIN_S: Final = 4.5  # before the five seconds are over


class TypingSign:
    """Which turns are at work, and the sign for it."""

    def __init__(self, api: BotApi, link: Link, ownership: Ownership, clock: Clock) -> None:
        self._api = api
        self._link = link
        self._ownership = ownership
        self._clock = clock
        self._turns: set[str] = set()
        self._at_work = asyncio.Event()

    def begin(self, turn: str) -> None:
        """`turn` is at work."""
        self._turns.add(turn)
        self._at_work.set()

    def end(self, turn: str) -> None:
        """`turn` is over."""
        self._turns.discard(turn)
        if not self._turns:
            self._at_work.clear()

    def forget(self) -> None:
        """It is not known any more what is at work."""
        self._turns.clear()
        self._at_work.clear()

    async def run(self) -> None:
        """Show the sign until cancelled; where it can't be shown nothing is lost."""
        while True:
            await self._at_work.wait()
            await self._link.works.wait()
            owner = await self._ownership.wait_known()
            pause_s = AGAIN_S
            try:
                await self._api.show_typing(private_chat_of(owner))
            except TooManyCalls as error:
                pause_s = max(AGAIN_S, error.retry_after_s)
            except BotApiError:
                pass  # the poller tells what is wrong with the link
            await self._clock.sleep(pause_s)
