"""The text of a long turn as it comes: one message in the owner's chat, changed at most once a second.

A draft is deleted when its turn is over: the reply is a message of its own, below what came meanwhile. Which
drafts are in the chat is on disk, so that a restart leaves none behind, but for one that was being sent for
the first time. Where a draft cannot be shown nothing is lost. Times are seconds.
"""

import asyncio
from dataclasses import dataclass
from typing import Final

from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import StoreFull
from onechat_runtime.store import Store

from onechat_telegram.adapters import draft_store
from onechat_telegram.adapters.bot_sends import BotSends
from onechat_telegram.domain.bot_errors import (
    BotApiError,
    ChatClosed,
    OutcomeUnknown,
    Refused,
    TooManyCalls,
)
from onechat_telegram.domain.ids import ChatId, MessageId, private_chat_of
from onechat_telegram.domain.outgoing import Message
from onechat_telegram.domain.pieces import TEXT_MAX
from onechat_telegram.domain.utf16 import blank, fitting, units
from onechat_telegram.link import Link
from onechat_telegram.ownership import Ownership

LONG_S: Final = 3.0  # a turn that is shorter needs no draft
EVERY_S: Final = 1.0
AFTER_A_FAILURE_S: Final = 5.0
MORE: Final = "\n…"  # below a draft, since there is more to come

log = logs.get("onechat_telegram.drafts")


@dataclass(slots=True, eq=False)
class _Draft:
    """What is shown of one turn."""

    turn: str
    began_s: float  #: on the clock that never goes back
    chat: ChatId
    step: int = 0
    text: str = ""  #: of the step, so far
    shown: str = ""
    message: MessageId | None = None
    given_up: bool = False  #: Telegram refuses it, or it is not known whether it is there
    over: bool = False


class Drafts:
    """Shows what the root is writing, where the owner has turned that on."""

    def __init__(
        self, sends: BotSends, store: Store, link: Link, ownership: Ownership, clock: Clock, *, on: bool
    ) -> None:
        self._sends = sends
        self._store = store
        self._link = link
        self._ownership = ownership
        self._clock = clock
        self._on = on
        self._draft: _Draft | None = None
        self._gone: list[tuple[ChatId, MessageId]] = []  #: to be deleted
        self._news = asyncio.Event()

    def open(self) -> None:
        """Before anything comes: what an earlier process left in chats is to be deleted."""
        self._gone = self._store.read(lambda db: draft_store.all_of(db, self._sends.bot))
        if self._gone:
            self._news.set()

    def begin(self, turn: str) -> None:
        """`turn` is at work."""
        if self._on and (self._draft is None or self._draft.turn != turn):
            self.forget()
            owner = self._ownership.owner
            if owner is not None:
                self._draft = _Draft(turn, self._clock.monotonic(), private_chat_of(owner))

    def came(self, turn: str, step: int, offset: int, text: str) -> None:
        """Some text of `turn` has come; `offset` code points of its step came before."""
        self.begin(turn)
        if self._draft is None:
            return
        before = self._draft.text[:offset] if self._draft.step == step else ""
        self._draft.step, self._draft.text = step, before + text
        self._news.set()

    def void(self, turn: str, step: int) -> None:
        """The step begins again; what is shown of it stays until there is other text."""
        if self._draft is not None and (self._draft.turn, self._draft.step) == (turn, step):
            self._draft.text = ""

    def end(self, turn: str) -> None:
        """`turn` is over."""
        if self._draft is not None and self._draft.turn == turn:
            self.forget()

    def forget(self) -> None:
        """It is not known any more what is at work."""
        draft, self._draft = self._draft, None
        if draft is None:
            return
        draft.over = True
        if draft.message is not None:
            self._gone.append((draft.chat, draft.message))
        self._news.set()

    async def run(self) -> None:
        """Show and delete until cancelled."""
        while True:
            await self._news.wait()
            self._news.clear()
            await self._link.works.wait()
            pause_s = EVERY_S
            try:
                await self._delete_gone()
                pause_s = await self._show()
            except TooManyCalls as error:
                pause_s = max(EVERY_S, error.retry_after_s)
                self._news.set()
            except (BotApiError, StoreFull) as error:
                log.info("draft_waits", error=type(error).__name__)
                pause_s = AFTER_A_FAILURE_S
                self._news.set()
            await self._clock.sleep(pause_s)

    async def _delete_gone(self) -> None:
        while self._gone:
            await self._delete(*self._gone[0])
            del self._gone[0]

    async def _delete(self, chat: ChatId, message: MessageId) -> None:
        try:
            await self._sends.delete(chat, message)
        except (Refused, ChatClosed) as error:
            log.info("draft_left", error=str(error))  # deleted by the owner, or out of reach
        await self._store.write(lambda db: draft_store.forget(db, self._sends.bot, chat, message))

    async def _show(self) -> float:
        """Bring the draft up to date, if it is time; how long to wait until the next change."""
        draft = self._draft
        if draft is None or draft.given_up:
            return EVERY_S
        text = shown_of(draft.text)
        if text == draft.shown or not text:
            return EVERY_S
        too_early_s = draft.began_s + LONG_S - self._clock.monotonic()
        if too_early_s > 0:
            self._news.set()
            return too_early_s
        try:
            if draft.message is None:
                await self._begin_message(draft, text)
            else:
                await self._sends.change(draft.chat, draft.message, text)
        except (Refused, ChatClosed):
            draft.given_up = True  # such as one that the owner has deleted
            raise
        except OutcomeUnknown:
            draft.given_up = draft.message is None
            raise
        draft.shown = text
        return EVERY_S

    async def _begin_message(self, draft: _Draft, text: str) -> None:
        message = await self._sends.send(draft.chat, Message(text=text, entities=()))
        draft.message = message
        if draft.over:  # meanwhile
            self._gone.append((draft.chat, message))
            self._news.set()
        await self._store.write(lambda db: draft_store.keep(db, self._sends.bot, draft.chat, message))


def shown_of(text: str) -> str:
    """What a draft shows of a step's `text` so far, of a long one the end; empty for nothing to see."""
    if blank(text):
        return ""
    room = TEXT_MAX - units(MORE) - 2
    if units(text) > room:
        text = "…\n" + text[len(text) - fitting(text[::-1], room) :]
    return text.rstrip() + MORE
