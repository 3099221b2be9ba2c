"""Pictures of the owner's messages: fetched from Telegram and stored by the agent, which names them.

What Telegram or the network fails with is waited for, while the link works not for ever; what can't be read
at all is said in one sentence.
"""

import random
from typing import Final

from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError

from onechat_telegram.adapters.agent import Agent
from onechat_telegram.adapters.bot_api import BotApi
from onechat_telegram.domain.bot_errors import BotApiError, FileTooLarge, Refused, delay_after
from onechat_telegram.domain.ids import FileId
from onechat_telegram.domain.message_kinds import PICTURE_MAX, Picture
from onechat_telegram.domain.wording import PICTURE_NOT_FETCHED, PICTURE_TOO_LARGE, PICTURE_UNKNOWN
from onechat_telegram.link import Link

TRIES: Final = 8  # while the link works: about four minutes, in which the messages after it wait
_SPREAD: Final = (0.8, 1.2)

log = logs.get("onechat_telegram.images")


class NotAPicture(Exception):
    """It can't be read; its text is a sentence for the user."""


class Images:
    """Brings pictures to the agent."""

    def __init__(self, api: BotApi, agent: Agent, link: Link, clock: Clock, rng: random.Random) -> None:
        self._api = api
        self._agent = agent
        self._link = link
        self._clock = clock
        self._rng = rng

    async def stored(self, picture: Picture) -> str:
        """The name under which the agent has `picture`, at the largest size that is not too large.

        Raises NotAPicture; and RemoteError where the agent does not take it now.
        """
        content = await self._content(picture)
        try:
            return await self._agent.put_image(content)
        except RemoteError as error:
            if error.reason != "IMAGE_INVALID":
                raise
            log.info("picture_refused", error=str(error), size=len(content))
        raise NotAPicture(PICTURE_UNKNOWN)

    async def _content(self, picture: Picture) -> bytes:
        for file in picture.files:
            try:
                return await self._fetched(file)
            except FileTooLarge as error:
                log.info("picture_too_large", error=str(error))
            except BotApiError as error:
                log.warning("picture_not_fetched", error=str(error))
                raise NotAPicture(PICTURE_NOT_FETCHED) from None
        raise NotAPicture(PICTURE_TOO_LARGE)

    async def _fetched(self, file: FileId) -> bytes:
        failures = 0
        while True:
            await self._link.works.wait()  # the poller tells what is wrong and when it is over
            try:
                return await self._api.content(file, PICTURE_MAX)
            except (FileTooLarge, Refused):
                raise
            except BotApiError as error:
                failures += 1
                if failures >= TRIES:
                    raise
                delay_s = delay_after(failures, error, self._rng.uniform(*_SPREAD))
                log.info("picture_waits", error=type(error).__name__, again_in_s=round(delay_s, 1))
                await self._clock.sleep(delay_s)
