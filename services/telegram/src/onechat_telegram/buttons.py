"""What a press of a button does: the owner's answer, told to the agent service or to the groups.

How the message of a proposal changes then, its event says: replies.py. Whoever presses gets a line at once,
as far as Telegram still waits for it.
"""

from typing import Final, Protocol

from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.steps import Reached
from onechat_runtime.store import Store

from onechat_telegram.adapters import piece_store
from onechat_telegram.adapters.bot_sends import BotSends
from onechat_telegram.domain.admissions import GONE, outcome_piece
from onechat_telegram.domain.bot_errors import BotApiError
from onechat_telegram.domain.callbacks import Callback, Press
from onechat_telegram.domain.ids import ChatId, key_for_press, private_chat_of
from onechat_telegram.domain.wording import NOT_FOR_YOU
from onechat_telegram.ownership import Ownership
from onechat_telegram.replies import Replies

OLD_BUTTON: Final = (
    "This button is of an earlier time and does nothing. /proposals lists what awaits your yes."
)
TOLD: Final = {
    "approved": "Proposal {number} has your yes and is being run.",
    "done": "Proposal {number} was run.",
    "failed": "Proposal {number} failed.",
    "unknown": "Proposal {number} was interrupted: it is not known whether it ran.",
    "refused": "Proposal {number} was refused.",
    "expired": "Proposal {number} has expired.",
}

log = logs.get("onechat_telegram.buttons")


class AnswersProposals(Protocol):
    """Takes the owner's answers."""

    async def answer_proposal(self, number: int, *, yes: bool, request_id: str) -> str | None:
        """The proposal's state then, as in TOLD; None for one that is not known. Raises RemoteError.

        The first answer counts, and a repeat changes nothing.
        """
        ...


class AdmitsGroups(Protocol):
    """Takes the owner's answers whether groups shall be served."""

    async def answer_group(self, chat: ChatId, *, yes: bool) -> str | None:
        """What became of the group, a line; None where the bot is in no such group. Raises what to try again.

        The same answer may come twice.
        """
        ...


class Buttons:
    """Answers presses of buttons."""

    def __init__(
        self,
        sends: BotSends,
        agent: AnswersProposals,
        store: Store,
        ownership: Ownership,
        replies: Replies,
        clock: Clock,
        reached: Reached,
        groups: AdmitsGroups | None = None,
    ) -> None:
        self._sends = sends
        self._agent = agent
        self._store = store
        self._ownership = ownership
        self._replies = replies
        self._clock = clock
        self._reached = reached
        self._groups = groups

    async def answer(self, callback: Callback) -> None:
        """Act on a press. Raises RemoteError where it has to be tried again."""
        owner = self._ownership.owner
        if owner is None or callback.user != owner or callback.chat != private_chat_of(owner):
            await self._tell(callback, NOT_FOR_YOU)
            return
        press = callback.press
        if press is not None and press.question.group is not None:
            await self._admission(callback, press, press.question.group)
        elif press is not None and self._is_here(press):
            await self._proposal(callback, press)
        else:
            await self._no_more(callback)

    async def _admission(self, callback: Callback, press: Press, group: ChatId) -> None:
        if self._groups is None or callback.chat is None:
            await self._no_more(callback)
            return
        said = await self._groups.answer_group(group, yes=press.yes) or GONE
        log.info("group_button_pressed", yes=press.yes)
        chat, now, key = callback.chat, self._clock.now(), key_for_press(self._sends.bot, callback.id)
        piece = outcome_piece(group, said)
        await self._store.write(lambda db: piece_store.add_answer(db, key, chat, (piece,), now))
        self._replies.added.set()
        await self._tell(callback, said)
        if not self._is_known(callback, press):
            await self._take_buttons(callback)

    async def _proposal(self, callback: Callback, press: Press) -> None:
        state = await self._agent.answer_proposal(
            press.question.number, yes=press.yes, request_id=key_for_press(self._sends.bot, callback.id)
        )
        self._reached("pressed")
        log.info("button_pressed", proposal=press.question.number, yes=press.yes, state=state)
        if state is None:
            await self._no_more(callback)
            return
        await self._tell(callback, TOLD[state].format(number=press.question.number))
        if not self._is_known(callback, press):
            await self._take_buttons(callback)

    def _is_known(self, callback: Callback, press: Press) -> bool:
        """Whether the message with the button will be changed; not one that was sent without an answer."""
        chat, bot = callback.chat, self._sends.bot
        if chat is None:
            return False
        return callback.message == self._store.read(
            lambda db: piece_store.message_of_question(db, press.question, bot, chat)
        )

    def _is_here(self, press: Press) -> bool:
        """Whether the proposal is one of the agent's store that is followed now."""
        place = self._store.read(piece_store.place)
        return place is not None and place.stream == press.question.stream

    async def _no_more(self, callback: Callback) -> None:
        await self._tell(callback, OLD_BUTTON)
        await self._take_buttons(callback)

    async def _take_buttons(self, callback: Callback) -> None:
        if callback.chat is None or callback.message is None:
            return
        try:
            await self._sends.take_buttons(callback.chat, callback.message)
        except BotApiError as error:
            log.info("buttons_left", error=type(error).__name__)

    async def _tell(self, callback: Callback, text: str) -> None:
        try:
            await self._sends.tell_presser(callback.id, text)
        except BotApiError as error:
            log.info("press_not_answered", error=type(error).__name__)  # Telegram waits seconds only
