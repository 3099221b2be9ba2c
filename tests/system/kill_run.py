"""A conversation in which services are killed at moments that a seed decides, and started again.

When services are killed: strikes.py. What must hold afterwards: invariants.py. Times are seconds.
"""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.fakes.bot_api import BotApi
from tests.fakes.five_services import FiveServices
from tests.fakes.five_services_chat import Chat
from tests.system.conversation import TELEGRAM, Message
from tests.system.strikes import Kill, Strikes

ANSWERED_S = 120.0


@dataclass(slots=True, kw_only=True)
class KillRun:
    """One conversation with its kills."""

    services: FiveServices
    chat: Chat
    api: BotApi
    rng: random.Random
    _waited_for: dict[str, str] = field(default_factory=dict)  #: texts that a turn must answer: their words
    _word_of: dict[str, str] = field(default_factory=dict)  #: by key
    _answered: set[str] = field(default_factory=set)
    _looked_at: int = 0

    async def run(self, said: Sequence[Message], planned: Sequence[Kill]) -> None:
        """Say everything while services are killed; returns once all run again and all is done."""
        strikes = Strikes(self.services, self.chat)
        async with asyncio.TaskGroup() as tasks:
            for number, message in enumerate(said):
                for kill in planned:
                    if kill.after == number:
                        tasks.create_task(strikes.strike(kill))
                await self._say(message)
                if not any(later.group == message.group != "" for later in said[number + 1 :]):
                    await self._answered_but(self.rng.choice((0, 0, 1, 3)))
        await self._answered_but(0)
        keys = {message.key for message in said if message.sender != TELEGRAM}
        await self.chat.all_done(keys)

    async def _say(self, message: Message) -> None:
        if message.wakes:
            self._waited_for[message.text] = message.word
        if message.sender == TELEGRAM:
            self.api.say(message.text)
            return
        await self.chat.say(
            message.text,
            key=message.key,
            caller=message.sender,
            source=message.source,
            wakes_root=message.wakes,
            group=message.group,
            group_count=message.group_count,
        )

    async def _answered_but(self, left: int) -> None:
        """Return once at most so many messages wait for the end of a turn."""
        try:
            await self.chat.until(lambda: len(self._unanswered()) <= left, ANSWERED_S)
        except TimeoutError:
            raise AssertionError(f"nobody answers {sorted(self._unanswered())}") from None

    def _unanswered(self) -> set[str]:
        """The words of messages whose turn has not ended; looks at the events since the last time."""
        for event in self.chat.events[self._looked_at :]:
            for body in (event.user_message, event.outside_message):
                if body.text in self._waited_for:
                    self._word_of[body.key] = self._waited_for[body.text]
            for one in event.turn_change.answered:
                self._answered.add(self._word_of.get(one.key, ""))
        self._looked_at = len(self.chat.events)
        return {*self._waited_for.values()} - self._answered
