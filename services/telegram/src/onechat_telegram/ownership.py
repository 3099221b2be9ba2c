"""Who owns the bot: the settings' user, else whoever sent the pairing code; and what others are told.

The code is made once and kept until it is used. The log shows it, and GetStatus to the operator. Health and
GetInfo do not, for whoever reads those could become the owner.
"""

import asyncio
from collections.abc import Callable, Sequence

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.store import Store

from onechat_telegram.adapters import chat_store
from onechat_telegram.domain.ids import UserId
from onechat_telegram.domain.pairing import new_code, same_code
from onechat_telegram.domain.wording import NO_OWNER_YET, NOT_FOR_YOU

log = logs.get("onechat_telegram.ownership")


class Ownership:
    """The owner of the bot, and the code as long as there is none."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        named: UserId | None,
        choose: Callable[[Sequence[str]], str],
    ) -> None:
        """`named` is the settings' owner; `choose` picks a letter of a new code by chance."""
        self._store = store
        self._clock = clock
        self._named = named
        self._choose = choose
        self._known = asyncio.Event()  #: there is an owner
        self.code = ""  #: what pairs; empty once there is an owner

    async def open(self) -> None:
        """Read who owns the bot; without an owner make the code, and show it."""
        if self.owner is None:
            code = new_code(self._choose)
            self.code = await self._store.write(lambda db: chat_store.keep_pairing_code(db, code))
            self.show("")
        else:
            self._known.set()

    @property
    def owner(self) -> UserId | None:
        """Who owns the bot; the settings come first."""
        return self._named if self._named is not None else self._store.read(chat_store.owner)

    def show(self, bot: str) -> None:
        """Show how to pair with `bot`, its user name if known, in the log, while it has no owner."""
        if self.code:
            log.info("pairing_code", code=self.code, bot=bot)

    def pairs(self, code: str) -> bool:
        """Whether `code` makes its sender the owner."""
        return self.owner is None and same_code(self.code, code)

    def pair(self, db: apsw.Connection, user: UserId) -> None:
        """Make `user` the owner, in the caller's transaction, unless there is one by now."""
        if chat_store.owner(db) is None:
            chat_store.set_owner(db, user, self._clock.now())
        self._store.when_committed(self._paired)

    async def wait_known(self) -> UserId:
        """The owner, once there is one."""
        await self._known.wait()
        owner = self.owner
        assert owner is not None, "known means that there is one"
        return owner

    async def refusal_for(self, user: UserId) -> str:
        """What to tell `user`, who is not the owner; empty when they were told within the hour."""
        now = self._clock.now()
        if not await self._store.write(lambda db: chat_store.may_refuse(db, user, now)):
            return ""
        return NO_OWNER_YET if self.owner is None else NOT_FOR_YOU

    def _paired(self) -> None:
        if self.owner is not None and not self._known.is_set():
            log.info("paired")
            self.code = ""
            self._known.set()
