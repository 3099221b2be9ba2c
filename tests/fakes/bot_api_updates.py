"""The updates of the stand-in Bot API server: their numbers, what a poll gets, and what it confirms.

As Telegram has it: an offset forgets what lies before it, one further than ten past the newest update is
taken for that of an older numbering, a negative one keeps that many of the newest; a second poller ends the
first with 409; a webhook refuses polls; allowed_updates stays until another poll changes it, and is for
updates made after.
"""

import asyncio
import copy
import time
from collections.abc import Mapping
from typing import Any

from tests.fakes.bot_api_fields import flag, given, integer, structured, text
from tests.fakes.bot_api_refusals import HAS_WEBHOOK, OTHER_POLLER, RefusedByBotApi, refused
from tests.fakes.bot_api_state import BotState, Json

UPDATES_MAX = 100
POLL_S_MAX = 50  # Telegram holds no poll longer
_FUTURE = 10  # an offset further past the newest update than this is of another numbering
_ONLY_WHEN_ASKED_FOR = {"chat_member", "message_reaction", "message_reaction_count"}


class Updates:
    """The queue of one bot."""

    def __init__(self, state: BotState) -> None:
        self._state = state
        self.waiting: list[Json] = []  #: not yet confirmed
        self.confirmed: list[int] = []  #: offsets that a poller has sent
        self.allowed: list[str] | None = None  #: as the last poll that named some; None before
        self.webhook = ""  #: where another program has Telegram send updates
        self.next_id = 700_000_001
        self._poller: asyncio.Event | None = None
        state.watch(self._wake)

    def put(self, body: Mapping[str, Any]) -> int:
        """Any update; it gets the next id unless it has one. One of a kind that is not asked for is lost."""
        update_id = int(body.get("update_id", self.next_id))
        if self._wanted(body):
            self.waiting.append({"update_id": update_id} | copy.deepcopy(dict(body)))
            self.next_id = update_id + 1
        self._state.change()
        return update_id

    async def get_updates(self, fields: Mapping[str, Any]) -> list[Json]:
        offset = integer(fields, "offset", 0)
        limit = min(max(integer(fields, "limit", UPDATES_MAX), 1), UPDATES_MAX)
        wait_s = min(max(integer(fields, "timeout", 0), 0), POLL_S_MAX)
        if self.webhook:
            raise RefusedByBotApi(409, HAS_WEBHOOK)
        self._allow(structured(fields, "allowed_updates"))
        self._wake()
        mine = self._poller = asyncio.Event()
        try:
            self._forget(offset)
            return await self._found(mine, limit, wait_s)
        finally:
            if self._poller is mine:
                self._poller = None

    async def set_webhook(self, fields: Mapping[str, Any]) -> bool:
        self._drop_pending(fields)
        self.webhook = text(fields, "url")
        return True

    async def delete_webhook(self, fields: Mapping[str, Any]) -> bool:
        self._drop_pending(fields)
        self.webhook = ""
        return True

    async def get_webhook_info(self, fields: Mapping[str, Any]) -> Json:
        return {
            "url": self.webhook,
            "has_custom_certificate": False,
            "pending_update_count": len(self.waiting),
        } | ({"allowed_updates": self.allowed} if self.allowed else {})

    async def _found(self, mine: asyncio.Event, limit: int, wait_s: int) -> list[Json]:
        deadline = time.monotonic() + wait_s
        while not self.waiting and time.monotonic() < deadline and self._poller is mine:
            mine.clear()
            try:
                async with asyncio.timeout(deadline - time.monotonic()):
                    await mine.wait()
            except TimeoutError:
                break
        if self._poller is not mine:
            raise RefusedByBotApi(409, OTHER_POLLER)
        return self.waiting[:limit]

    def _forget(self, offset: int) -> None:
        if offset > 0:
            self.confirmed.append(offset)
        newest = max((update["update_id"] for update in self.waiting), default=offset)
        if 0 < offset <= newest + _FUTURE:
            self.waiting = [update for update in self.waiting if update["update_id"] >= offset]
        elif offset < 0:
            self.waiting = self.waiting[offset:]
        self._state.change()

    def _allow(self, kinds: Any) -> None:
        if kinds is None:
            return
        if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
            raise refused("allowed_updates must be an Array of String")
        self.allowed = kinds

    def _wanted(self, body: Mapping[str, Any]) -> bool:
        kinds = set(body) - {"update_id"}
        return bool(kinds & set(self.allowed)) if self.allowed else not kinds & _ONLY_WHEN_ASKED_FOR

    def _drop_pending(self, fields: Mapping[str, Any]) -> None:
        if given(fields, "drop_pending_updates") and flag(fields, "drop_pending_updates"):
            self.waiting.clear()

    def _wake(self) -> None:
        if self._poller is not None:
            self._poller.set()
