"""One message and what answers it: what `send` does once, and a chat without a terminal for each line.

It waits through reconnects. Times are seconds.
"""

import asyncio
import contextlib
from dataclasses import dataclass
from typing import Final, Protocol

from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError, retriable

from onechat_cli.chat.conversation import Agent as Chatting
from onechat_cli.domain.happening import Event, Noticed, Opened, Place, Replied, TurnChanged, TurnState
from onechat_cli.domain.pauses import Pauses
from onechat_cli.domain.typed import Typed

_LAST_WORD_S: Final = 2.0  # a turn is over: its reply or notice is on its way, or there is none


class Agent(Chatting, Protocol):
    """The agent service; every call raises RemoteError."""

    async def delivery_state(self, key: str) -> tuple[bool, str]:
        """Whether the message of `key` is done, and the turn that took it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How a message ended."""

    reply: str | None  #: may be empty; None when there is none
    notice: str = ""  #: then why, a sentence
    agent: str = ""
    turn: str = ""


_SAID: Final = {TurnState.STOPPED: "The turn was stopped.", TurnState.FAILED: "The turn failed."}


class Asking:
    """Waits for the answer to one message."""

    def __init__(self, agent: Agent, typed: Typed, clock: Clock) -> None:
        self._agent = agent
        self._typed = typed
        self._clock = clock
        self._place: Place | None = None
        self.delivered = False  #: whether the agent has said that it has the message
        self.held = ""  #: what the agent last said on why it does not take it yet

    async def answer(self) -> Answer:
        """Deliver the message, once, and wait for what answers it. RemoteError when it is refused."""
        pauses = Pauses()
        while True:
            with contextlib.suppress(_Lost):
                return await self._listen()
            await self._clock.sleep(pauses.next_s())

    async def _listen(self) -> Answer:
        """Until the answer, or _Lost when the stream breaks."""
        try:
            async with asyncio.timeout(None) as limit:
                async for heard in self._agent.hear(self._place):
                    match heard.item:
                        case Opened():
                            if self._place is None:
                                self._place = heard.place
                            await self._deliver()
                        case Event() as event:
                            self._place = Place(stream=heard.place.stream, number=event.number)
                            found = self._answer_in(event)
                            if found is not None:
                                return found
                            if self._is_over(event):
                                limit.reschedule(asyncio.get_running_loop().time() + _LAST_WORD_S)
        except TimeoutError:
            return Answer(reply=None, notice="The turn ended without a reply.")
        except RemoteError as error:
            return await self._broken(error)
        raise _Lost

    async def _deliver(self) -> None:
        if not self.delivered:
            await self._agent.deliver(self._typed)
            self.delivered = True

    def _answer_in(self, event: Event) -> Answer | None:
        match event.body:
            case Replied(text=text, answered=keys) if self._typed.key in keys:
                return Answer(reply=text, agent=event.agent, turn=event.turn)
            case Noticed(text=text, answered=keys) if self._typed.key in keys:
                return Answer(reply=None, notice=text, agent=event.agent, turn=event.turn)
            case TurnChanged(state=state, answered=keys, reason=reason) if (
                self._typed.key in keys and state in _SAID
            ):
                return Answer(reply=None, notice=reason or _SAID[state], agent=event.agent, turn=event.turn)
            case _:
                return None

    def _is_over(self, event: Event) -> bool:
        """Whether the turn that took the message has ended: its reply comes with it."""
        body = event.body
        return isinstance(body, TurnChanged) and self._typed.key in body.answered

    async def _broken(self, error: RemoteError) -> Answer:
        if retriable(error.code):
            self.held = error.message if error.reason else ""
            raise _Lost from None
        if error.reason != "EVENTS_GONE":
            raise error
        self._place = None
        done, turn = await self._agent.delivery_state(self._typed.key)
        if done:
            return Answer(reply=None, notice="It was answered meanwhile; `onechat chat` shows it.", turn=turn)
        raise _Lost


class _Lost(Exception):
    """The stream broke; the next one goes on from its place."""
