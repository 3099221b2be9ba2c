"""The link to WhatsApp as it is now, kept through restarts, and what the user is told of its changes.

What each change makes of the link: domain/link.py. Who connects: connecting.py. Linking: pairing.py.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime, tzinfo
from typing import Final

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.health import HealthBoard
from onechat_runtime.store import Store

from onechat_whatsapp.adapters import link_rows
from onechat_whatsapp.domain import link as links
from onechat_whatsapp.domain import notices as words
from onechat_whatsapp.domain.link import SENTENCES, LinkNow, LinkState
from onechat_whatsapp.domain.notices import Notice
from onechat_whatsapp.notices import Notices
from onechat_whatsapp.waiting import Moves, once_there_is_room
from onechat_whatsapp.wire.events import (
    Banned,
    Connected,
    Disconnected,
    LoggedOut,
    Outdated,
    Replaced,
    WireDown,
    WireEvent,
)

_LOOK_S: Final = 60.0  # how often the wall clock is looked at while something is due
_KEY: Final = "link"

log = logs.get("onechat_whatsapp.link")

Change = Callable[[LinkNow, datetime], LinkNow]  # the link and the time → the link
Also = Callable[[apsw.Connection], None]  # what else belongs into the transaction of a change


class Link:
    """How the link is."""

    def __init__(
        self, store: Store, notices: Notices, board: HealthBoard, clock: Clock, zone: tzinfo
    ) -> None:
        """`zone` is the user's. Call `open` before anything else."""
        self._store = store
        self._notices = notices
        self._board = board
        self._clock = clock
        self._zone = zone
        self._one = asyncio.Lock()
        self._failed = False  # an attempt has failed, or a connection broke, since the last one that stood
        self._library = ""  # what is missing for any attempt
        self._away_mark = clock.monotonic()  # since when there has been no connection, while there is none
        self.moves = Moves(clock)  #: moved with each change
        self.down = False  #: what was started has ended by itself
        self.now = LinkNow(state=LinkState.NOT_LINKED, since=clock.now())  #: the link

    @property
    def connected(self) -> bool:
        """Whether the account is logged in now."""
        return self.now.state is LinkState.CONNECTED

    @property
    def over(self) -> bool:
        """Whether what was started brings no connection any more."""
        return self.down or not self.now.usable

    @property
    def trouble(self) -> str:
        """What is wrong and what to do; "" while nothing is, and where nothing is linked."""
        if self.now.state in (LinkState.CONNECTED, LinkState.NOT_LINKED):
            return ""
        if self.now.state is LinkState.DISCONNECTED and not self._failed:
            return ""  # it is being connected
        return self._library or SENTENCES[self.now.state]

    async def open(self, *, session: bool) -> None:
        """Read how the link was; `session` is whether there is one now."""
        before = self._store.read(link_rows.kept)
        self.now = before or self.now
        lost = before is not None and before.linked and not session
        notices = [words.gone(self._clock.now())] if lost else []
        await self.change(lambda _, now: links.found(before, now, session=session), notices)

    async def run(self) -> None:
        """Make the changes that time alone makes, until cancelled."""
        while True:
            link = self.now
            await self.moves.until(lambda: self.now != link, self._wait_s())  # noqa: B023
            await once_there_is_room(self._clock, lambda: self.change(self._passed))

    async def hear(self, event: WireEvent) -> None:
        """Take what `event` says of the link."""
        match event:
            case Connected():
                self._failed, self._library = False, ""
                await self.change(links.connected)
            case Disconnected():
                self._failed = True
                await self.change(links.lost)
            case WireDown(why=why):
                log.warning("wire_down", why=why)
                self._failed = self.down = True
                await self.change(links.lost)
            case LoggedOut(reason=reason):
                await self._ended(LinkState.LOGGED_OUT, reason)
            case Replaced():
                await self._ended(LinkState.REPLACED)
            case Banned(code=code, expire_s=expire_s):
                await self._ended(LinkState.BANNED, code, expire_s)
            case Outdated():
                await self._ended(LinkState.OUTDATED)
            case _:
                pass

    def attempt_begins(self) -> None:
        """What was started before counts no more."""
        self.down = False

    def attempt_failed(self, library: str = "") -> None:
        """An attempt to connect has failed; `library`, a sentence, where the library cannot be loaded."""
        self._failed, self._library = True, library
        self._show()

    async def change(
        self, change: Change, notices: list[Notice] | None = None, also: Also | None = None
    ) -> None:
        """Make `change` of the link, on disk together with `also` and what the user is told, then here.

        `notices` are told instead of what such a change mostly has told. Raises StoreFull; then all is as it
        was.
        """
        async with self._one:
            before = self.now
            after = change(before, self._clock.now())
            told = words.told_by(before, after, self._zone) if notices is None else notices

            def keep(db: apsw.Connection) -> None:
                link_rows.keep(db, after)
                for notice in told:
                    self._notices.put(db, notice)
                if also is not None:
                    also(db)

            if after != before or told or also is not None:
                await self._store.write(keep)
            if after.away_since != before.away_since:
                self._away_mark = self._clock.monotonic()
            self.now = after
        if after.state is not before.state:
            log.info("link", state=after.state)
        self._show()
        self.moves.moved()

    async def _ended(self, state: LinkState, code: str = "", ban_s: float = 0.0) -> None:
        log.warning("link_ended", state=state, code=code)
        await self.change(lambda link, now: links.ended(link, state, now, ban_s))

    def _show(self) -> None:
        if trouble := self.trouble:
            self._board.trouble(_KEY, trouble)
        else:
            self._board.clear(_KEY)
        unlinked = self.now.state is LinkState.NOT_LINKED
        self._board.remark(_KEY, SENTENCES[LinkState.NOT_LINKED] if unlinked else "")

    def _passed(self, link: LinkNow, now: datetime) -> LinkNow:
        return links.passed(link, now, self._away_s())

    def _wait_s(self) -> float | None:
        due_s = links.due_in_s(self.now, self._clock.now(), self._away_s())
        return None if due_s is None else min(_LOOK_S, max(0.0, due_s))

    def _away_s(self) -> float:
        return self._clock.monotonic() - self._away_mark
