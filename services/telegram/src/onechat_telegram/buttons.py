"""What a press of a button under a proposal does: the owner's answer, told to the agent service.

How the message with the button changes then, the proposal's event says: replies.py. Whoever presses gets a
line at once, as far as Telegram still waits for it.
"""

from typing import Final, Protocol

from onechat_runtime import logs
from onechat_runtime.store import Store

from onechat_telegram.adapters import piece_store
from onechat_telegram.adapters.bot_sends import BotSends
from onechat_telegram.domain.bot_errors import BotApiError
from onechat_telegram.domain.callbacks import Callback, Press
from onechat_telegram.domain.ids import key_for_press, private_chat_of
from onechat_telegram.domain.wording import NOT_FOR_YOU
from onechat_telegram.ownership import Ownership

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


class Buttons:
    """Answers presses of buttons."""

    def __init__(self, sends: BotSends, agent: AnswersProposals, store: Store, ownership: Ownership) -> None:
        self._sends = sends
        self._agent = agent
        self._store = store
        self._ownership = ownership

    async def answer(self, callback: Callback) -> None:
        """Act on a press. Raises RemoteError where it has to be tried again."""
        owner = self._ownership.owner
        if owner is None or callback.user != owner or callback.chat != private_chat_of(owner):
            await self._tell(callback, NOT_FOR_YOU)
            return
        if callback.press is None or not self._is_here(callback.press):
            await self._no_more(callback)
            return
        press = callback.press
        state = await self._agent.answer_proposal(
            press.question.number, yes=press.yes, request_id=key_for_press(self._sends.bot, callback.id)
        )
        log.info("button_pressed", proposal=press.question.number, yes=press.yes, state=state)
        if state is None:
            await self._no_more(callback)
        else:
            await self._tell(callback, TOLD[state].format(number=press.question.number))

    def _is_here(self, press: Press) -> bool:
        """Whether the proposal is one of the agent's store that is followed now."""
        place = self._store.read(piece_store.place)
        return place is not None and place.stream == press.question.stream

    async def _no_more(self, callback: Callback) -> None:
        await self._tell(callback, OLD_BUTTON)
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
