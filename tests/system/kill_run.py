"""A conversation in which services are killed at moments that a seed decides, and started again.

What must hold afterwards: invariants.py. Times are seconds.
"""

import asyncio
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.fakes.bot_api import BotApi
from tests.fakes.five_services import FiveServices
from tests.fakes.five_services_chat import Chat
from tests.fakes.five_services_points import APPEND, ASK, COMMIT, Point
from tests.system.conversation import TELEGRAM, Message

SEEN = ("turn_change", "activity", "reply", "text", "user_message")  #: right after these are seen
STEPS = {"agent": (COMMIT, APPEND, ASK), "memory": (COMMIT,), "telegram": (COMMIT,)}
ANSWERED_S = 120.0
MOMENT_S = 4.0  # for a moment that does not come; then it is any moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """One SIGKILL: after which message, and when: some time after it, at something seen, or at a point."""

    service: str
    after: int
    later_s: float
    seen: str = ""
    point: Point | None = None
    away_s: float = 0.0


def kills(rng: random.Random, wanted: dict[str, int], messages: int) -> list[Kill]:
    """As many of each service as are wanted, spread over the conversation."""
    made = []
    for service, number in wanted.items():
        for _ in range(number):
            kind = rng.choice(("later", "seen", "point")) if service in STEPS else "later"
            made.append(
                Kill(
                    service=service,
                    after=rng.randrange(messages),
                    later_s=rng.uniform(0, 0.6),
                    seen=rng.choice(SEEN) if kind == "seen" else "",
                    point=_point(rng, service) if kind == "point" else None,
                    away_s=rng.choice((0, 0, rng.uniform(0, 0.8))),
                )
            )
    return made


def _point(rng: random.Random, service: str) -> Point:
    side = rng.choice(("before", "after"))
    step = rng.choice(STEPS[service])
    return Point(step=step, side=side, nth=rng.randrange(1, 3 if step == ASK else 12))


@dataclass(slots=True, kw_only=True)
class KillRun:
    """One conversation with its kills."""

    services: FiveServices
    chat: Chat
    api: BotApi
    rng: random.Random
    _locks: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    _waited_for: dict[str, str] = field(default_factory=dict)  #: texts that a turn must answer: their words
    _word_of: dict[str, str] = field(default_factory=dict)  #: by key
    _answered: set[str] = field(default_factory=set)
    _looked_at: int = 0

    async def run(self, said: Sequence[Message], planned: Sequence[Kill]) -> None:
        """Say everything while services are killed; returns once all run again and all is done."""
        async with asyncio.TaskGroup() as strikes:
            for number, message in enumerate(said):
                for kill in planned:
                    if kill.after == number:
                        strikes.create_task(self._strike(kill))
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

    async def _strike(self, kill: Kill) -> None:
        async with self._locks[kill.service]:
            if kill.point is not None:
                await self.services.stop(kill.service)
                await self.services.start(kill.service, point=kill.point, ready=False)
                await self._or_later(self.services.process(kill.service).end(within_s=MOMENT_S))
            elif kill.seen:
                await self._or_later(self._seen(kill.seen))
            else:
                await asyncio.sleep(kill.later_s)  # chance itself: nothing is waited for
            if self.services.running(kill.service):
                await self.services.kill(kill.service)
            else:
                await self.services.killed(kill.service)
            await asyncio.sleep(kill.away_s)  # how long it is away
            await self.services.start(kill.service)

    async def _or_later(self, moment: "asyncio.Future[object] | object") -> None:
        try:
            async with asyncio.timeout(MOMENT_S):
                await moment  # type: ignore[misc]
        except TimeoutError:
            return

    async def _seen(self, what: str) -> None:
        """Return when the next of these is seen."""
        before = self._count(what)
        while self._count(what) == before:
            self.chat.came.clear()
            await self.chat.came.wait()

    def _count(self, what: str) -> int:
        if what == "text":
            return len(self.chat.passing)
        return sum(event.HasField(what) for event in self.chat.events)  # type: ignore[arg-type]
