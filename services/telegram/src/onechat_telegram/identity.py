"""Who the bot is on Telegram: asked at each start, kept, since what waits in the inbox may be taken before.

It is asked again when the bot is added to a group: privacy mode may have been switched off for that.
"""

import asyncio
from collections.abc import Callable

from onechat_runtime.store import Store

from onechat_telegram.adapters import place_store
from onechat_telegram.adapters.bot_api import BotApi
from onechat_telegram.domain.ids import BotId, BotProfile


class Identity:
    """The bot of one token."""

    def __init__(self, api: BotApi, store: Store) -> None:
        self._api = api
        self._store = store
        self._known = asyncio.Event()
        self._profile = BotProfile(bot=api.bot, user_name="", name="", hears_all=False)
        self.changed: Callable[[], None] = lambda: None  #: called when Telegram has said who it is

    def open(self) -> None:
        """Read who the bot was."""
        kept = self._store.read(lambda db: place_store.profile(db, self._api.bot))
        if kept is not None:
            self._be(kept)

    @property
    def bot(self) -> BotId:
        """The bot's number, which its token tells."""
        return self._api.bot

    @property
    def profile(self) -> BotProfile:
        """Who the bot is; without names before Telegram has said them for the first time."""
        return self._profile

    async def wait_known(self) -> BotProfile:
        """Who the bot is, once Telegram has said it."""
        await self._known.wait()
        return self._profile

    async def learn(self) -> BotProfile:
        """Ask Telegram. Raises BotApiError."""
        found = await self._api.profile()
        if found != self._profile or not self._known.is_set():
            await self._store.write(lambda db: place_store.keep_profile(db, found))
        self._be(found)
        return found

    def _be(self, profile: BotProfile) -> None:
        self._profile = profile
        self._known.set()
        self.changed()
