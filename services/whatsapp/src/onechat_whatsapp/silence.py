"""Watches for silence: a connection over which nothing comes for oddly long, and messages without a key.

Only what comes from chats counts as something. The gap that runs is on disk within a minute of what comes,
else every ten. What is odd, and what is said of it: domain/silence.py.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Final

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.errors import StoreFull
from onechat_runtime.health import HealthBoard
from onechat_runtime.store import Store

from onechat_whatsapp.adapters import silence_rows
from onechat_whatsapp.domain import silence as rules
from onechat_whatsapp.domain.chat_ids import LISTS, bare, is_group, server_of
from onechat_whatsapp.domain.silence import Missing, Quiet
from onechat_whatsapp.link import Link
from onechat_whatsapp.notices import Notices
from onechat_whatsapp.wire.events import GroupRenamed, Heard, Undecryptable, WireEvent
from onechat_whatsapp.wire.ports import Me, SessionUnreadable

NameOf = Callable[[str], Awaitable[str]]  # a chat's id → its name, or what the user knows it by
Owner = Callable[[], Awaitable[Me | None]]  # who is linked

LOOK_S: Final = 60.0
_KEPT_EVERY_S: Final = 600.0
_WORTH_KEEPING_S: Final = 60.0  # a shorter gap makes no threshold
_KEY: Final = "silence"
_REMARK: Final = "undecryptable"


class Silence:
    """What did not come."""

    def __init__(
        self,
        store: Store,
        link: Link,
        notices: Notices,
        board: HealthBoard,
        name_of: NameOf,
        owner: Owner,
        clock: Clock,
        zone: tzinfo,
    ) -> None:
        """`zone` is the user's."""
        self._store = store
        self._link = link
        self._notices = notices
        self._board = board
        self._name_of = name_of
        self._owner = owner
        self._clock = clock
        self._zone = zone
        self._mark = clock.monotonic()  # up to then the gap is counted
        self._kept_s = 0.0  # of the gap, when it was kept last
        self._of: datetime | None = None  # the link that the gap belongs to
        self._quiet = Quiet()
        self._trouble = ""

    @property
    def last_event(self) -> datetime | None:
        """When something last came from a chat."""
        return self._quiet.last if self._of == self._link.now.linked_since else None

    @property
    def trouble(self) -> str:
        """What is wrong and what to do; "" while nothing is odd."""
        return self._trouble

    def undecryptable(self) -> int:
        """How many messages could not be decrypted, all chats together."""
        return self._store.read(silence_rows.undecryptable)

    def open(self) -> None:
        """Read the gap that runs."""
        self._quiet = self._store.read(silence_rows.quiet)
        self._of = self._link.now.linked_since
        self._kept_s, self._mark = self._quiet.connected_s, self._clock.monotonic()
        self._show()

    async def hear(self, event: WireEvent) -> None:
        """Take what `event` says of what comes, and of what could not be decrypted. Raises StoreFull."""
        now = self._clock.now()
        match event:
            case Undecryptable():
                await self._note(event, now)
            case Heard():
                await self._forget(event)
            case GroupRenamed():
                pass
            case _:
                return
        await self._came(now)

    async def run(self) -> None:
        """Look every minute until cancelled."""
        while True:
            await self._clock.sleep(LOOK_S)
            try:
                await self.look()
            except (StoreFull, SessionUnreadable):
                continue  # looked at again in a minute

    async def look(self) -> None:
        """See whether the gap is odd by now, and what could not be decrypted; tell the user, once of each."""
        now = self._clock.now()
        self._count()
        longest_s = self._store.read(lambda db: silence_rows.longest_gap_s(db, now))
        since = self._link.now.linked_since
        if self._link.connected and rules.is_odd(self._quiet, longest_s, since, now):
            await self._tell_silence(self._quiet.last or since or now)
        else:
            self._not_odd()
            if self._unkept():
                await self._keep()
        await self._tell_missing(now)
        self._show()

    async def _note(self, event: Undecryptable, now: datetime) -> None:
        """Count a message without a key, unless it is of the user's own chat, which is not read."""
        chat = event.sender if server_of(event.chat) == LISTS else event.chat
        owner = await self._owner()
        if owner is not None and bare(chat) in (owner.number, owner.lid):
            return
        await self._store.write(
            lambda db: silence_rows.add_undecryptable(db, chat, event.message_id, event.time, now)
        )

    async def _forget(self, heard: Heard) -> None:
        """What has come is not missing, whichever of its ids the chat had then."""
        chats = {heard.chat}
        if server_of(heard.chat) == LISTS:
            chats = {heard.sender, heard.sender_alt}
        elif not is_group(heard.chat):
            chats |= {heard.recipient_alt if heard.from_me else heard.sender_alt}

        def missing(db: apsw.Connection) -> list[str]:
            return [chat for chat in chats if silence_rows.is_missing(db, chat, heard.message_id)]

        def forget(db: apsw.Connection) -> None:
            for chat in found:
                silence_rows.came_after_all(db, chat, heard.message_id)

        if found := self._store.read(missing):
            await self._store.write(forget)

    async def _came(self, now: datetime) -> None:
        """Something came: the gap is over, the next begins."""
        self._count()
        before, self._quiet = self._quiet, Quiet(last=now)
        if before.connected_s >= _WORTH_KEEPING_S or before.last is None:

            def keep(db: apsw.Connection) -> None:
                silence_rows.add_gap(db, now, before.connected_s)
                silence_rows.keep_quiet(db, self._quiet)

            try:
                await self._store.write(keep)
            except StoreFull:
                self._quiet = before
                raise
            self._kept_s = 0.0
        self._not_odd()

    def _not_odd(self) -> None:
        self._trouble = ""
        self._board.clear(_KEY)

    def _count(self) -> None:
        """Count the time since the last look, if there is a connection; a new link begins anew."""
        mark, self._mark = self._mark, self._clock.monotonic()
        if self._of != self._link.now.linked_since:
            self._of, self._quiet, self._kept_s = self._link.now.linked_since, Quiet(), 0.0
        elif self._link.connected:
            self._quiet = replace(self._quiet, connected_s=self._quiet.connected_s + self._mark - mark)

    def _unkept(self) -> bool:
        kept = self._store.read(silence_rows.quiet)
        return kept.last != self._quiet.last or self._quiet.connected_s - self._kept_s >= _KEPT_EVERY_S

    async def _keep(self) -> None:
        kept = self._quiet
        await self._store.write(lambda db: silence_rows.keep_quiet(db, kept))
        self._kept_s = kept.connected_s

    async def _tell_silence(self, last: datetime) -> None:
        self._trouble = rules.silent(last, self._zone)
        self._board.trouble(_KEY, self._trouble)
        if self._quiet.told:
            return
        told = replace(self._quiet, told=True)

        def keep(db: apsw.Connection) -> None:
            silence_rows.keep_quiet(db, told)
            self._notices.put(db, rules.silence_notice(last, self._zone))

        await self._store.write(keep)
        if self._quiet.last == told.last:  # else something came meanwhile
            self._quiet = replace(self._quiet, told=True)

    async def _tell_missing(self, now: datetime) -> None:
        before = rules.noticed_before(self._link.now, now)
        missing = self._store.read(lambda db: silence_rows.untold(db, before, now))
        last = self._store.read(silence_rows.last_told)
        if not missing or (last is not None and rules.lately(last, now, rules.TOLD_APART)):
            return
        notice = rules.missing_notice(await self._named(missing), now, self._zone)

        def keep(db: apsw.Connection) -> None:
            if silence_rows.untold(db, before, now) != missing:
                return  # one of them has come meanwhile: the next look tells of the others
            silence_rows.set_told(db, before, now)
            self._notices.put(db, notice)

        await self._store.write(keep)

    async def _named(self, missing: list[Missing]) -> list[tuple[str, Missing]]:
        names = await asyncio.gather(*(self._name_of(each.chat) for each in missing))
        return list(zip(names, missing, strict=True))

    def _show(self) -> None:
        self._board.remark(_REMARK, rules.undecrypted(self.undecryptable()))
