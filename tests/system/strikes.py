"""SIGKILLs at moments that a seed decides: a while after something is said, at something seen, or at a point.

Whatever was killed is started again, as a supervisor does. What is said meanwhile: kill_run.py and
telegram_run.py. Times are seconds.
"""

import asyncio
import random
from collections import defaultdict
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from tests.fakes.five_services import FiveServices
from tests.fakes.five_services_chat import Chat
from tests.fakes.five_services_points import APPEND, ASK, COMMIT, SEND, Point

SEEN = ("turn_change", "activity", "reply", "text", "user_message")  #: right after these are seen
STEPS = {"agent": (COMMIT, APPEND, ASK), "memory": (COMMIT,), "telegram": (COMMIT, COMMIT, SEND)}
RARE = (ASK, SEND)  #: steps that a process may pass but a few times
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


def kills(rng: random.Random, wanted: Mapping[str, int], messages: int) -> list[Kill]:
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
    return Point(step=step, side=side, nth=rng.randrange(1, 3 if step in RARE else 12))


class Strikes:
    """Kills services and starts them again, each by one strike at a time."""

    def __init__(self, services: FiveServices, chat: Chat) -> None:
        self._services = services
        self._chat = chat
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def strike(self, kill: Kill) -> None:
        """Kill the service when its moment comes, or does not for long; returns once it serves again."""
        async with self._locks[kill.service]:
            if kill.point is not None:
                await self._services.stop(kill.service)
                await self._services.start(kill.service, point=kill.point, ready=False)
                await _or_later(self._services.process(kill.service).end(within_s=MOMENT_S))
            elif kill.seen:
                await _or_later(self._seen(kill.seen))
            else:
                await asyncio.sleep(kill.later_s)  # chance itself: nothing is waited for
            if self._services.running(kill.service):
                await self._services.kill(kill.service)
            else:
                await self._services.killed(kill.service)
            await asyncio.sleep(kill.away_s)  # how long it is away
            await self._services.start(kill.service)

    async def _seen(self, what: str) -> None:
        """Return when the next of these is seen."""
        before = self._count(what)
        while self._count(what) == before:
            self._chat.came.clear()
            await self._chat.came.wait()

    def _count(self, what: str) -> int:
        if what == "text":
            return len(self._chat.passing)
        return sum(event.HasField(what) for event in self._chat.events)  # type: ignore[arg-type]


async def _or_later(moment: Awaitable[object]) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(MOMENT_S):
            await moment
