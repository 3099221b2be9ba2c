"""What comes from Telegram: polled, kept with the next offset in one transaction, confirmed by the next poll.

The inbox is the runtime's outbox, with the raw update as the body: handing it over is handover.py's.
Messages, commands, /stop, buttons, what strangers write and what each group brings wait in a lane each, so
that /stop passes what waits, and nobody the owner's. What waits for its rest: joining.py.
"""

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock, micros
from onechat_runtime.errors import StoreFull
from onechat_runtime.outbox import Outbox
from onechat_runtime.steps import Reached
from onechat_runtime.store import Store

from onechat_telegram.adapters import chat_store
from onechat_telegram.adapters.bot_api import POLL_S, BotApi
from onechat_telegram.domain.bot_errors import BotApiError, NotReached, OtherPoller, Refused, delay_after
from onechat_telegram.domain.commands import MENU
from onechat_telegram.domain.ids import key_for_update
from onechat_telegram.domain.updates import lane_of
from onechat_telegram.identity import Identity
from onechat_telegram.joining import KIND, lane_for
from onechat_telegram.link import Link
from onechat_telegram.ownership import Ownership

_PROBE_S: Final = 5  # of the poll after a failure, so that what works again soon shows it
_SPREAD: Final = (0.8, 1.2)

log = logs.get("onechat_telegram.inbox")


class Inbox:
    """Polls one bot's updates and keeps them."""

    def __init__(
        self,
        api: BotApi,
        identity: Identity,
        store: Store,
        outbox: Outbox,
        link: Link,
        ownership: Ownership,
        clock: Clock,
        rng: random.Random,
        reached: Reached,
    ) -> None:
        self._api = api
        self._identity = identity
        self._store = store
        self._outbox = outbox
        self._link = link
        self._ownership = ownership
        self._clock = clock
        self._rng = rng
        self._reached = reached
        self._greeted = False

    async def run(self) -> None:
        """Poll until cancelled."""
        failures, wait_s = 0, POLL_S
        while True:
            try:
                await self._greet()
                await self._poll(wait_s)
            except BotApiError as error:
                failures += 1
                self._link.failed(error)
                delay_s = delay_after(failures, error, self._rng.uniform(*_SPREAD))
                log.info(
                    "poll_failed",
                    error=type(error).__name__,
                    why=str(error),
                    failures=failures,
                    again_in_s=round(delay_s, 1),
                )
                await self._clock.sleep(delay_s)
                # Only a poll that waits meets another poller.
                wait_s = _PROBE_S if isinstance(error, OtherPoller) else 0
            except StoreFull:
                await self._clock.sleep(delay_after(failures := failures + 1, NotReached(), 1.0))
            else:
                self._link.connected()
                failures, wait_s = 0, POLL_S

    async def _greet(self) -> None:
        """Once: learn who the bot is, end what would refuse polls, set the menu."""
        if self._greeted:
            return
        self._link.bot = (await self._identity.learn()).user_name
        await self._api.forget_webhook()
        try:
            await self._api.show_menu(MENU)
        except Refused as error:
            log.warning("menu_refused", error=str(error))  # the commands work without it
        self._greeted = True
        self._link.connected()
        self._ownership.show(self._link.bot)

    async def _poll(self, wait_s: int) -> None:
        offset = self._store.read(lambda db: chat_store.next_offset(db, self._api.bot))
        updates = await self._api.updates(offset, wait_s)
        if updates:
            self._reached("polled")
            await self._store.write(lambda db: self._keep(db, updates))
            self._reached("kept")

    def _keep(self, db: apsw.Connection, updates: Sequence[Mapping[str, Any]]) -> None:
        now, owner = self._clock.now(), self._ownership.owner
        for place, update in enumerate(updates):
            self._outbox.put(
                db,
                kind=KIND,
                key=key_for_update(self._api.bot, int(update["update_id"]), micros(now), place),
                body=json.dumps(update).encode(),
                lane=lane_for(db, update, lane_of(update, owner)),
                now=now,
            )
        # The last one's and not the highest: ids begin anew anywhere after a quiet week.
        chat_store.set_next_offset(db, self._api.bot, int(updates[-1]["update_id"]) + 1)
