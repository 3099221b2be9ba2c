"""Waiting for a state to come, for an answer, for room on the disk, on the clock that is given. Seconds."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from onechat_runtime.clock import Clock
from onechat_runtime.errors import StoreFull

FULL_AGAIN_S: Final = 10.0

T = TypeVar("T")


class Moves:
    """Whoever changes a state says so, and whoever waits for it looks again."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._moved = asyncio.Event()

    def moved(self) -> None:
        """Something has changed."""
        self._moved.set()
        self._moved = asyncio.Event()

    async def until(self, reached: Callable[[], bool], within_s: float | None = None) -> bool:
        """Return once `reached`, or after `within_s`; whether it is reached then."""
        sleep = None if within_s is None else asyncio.ensure_future(self._clock.sleep(within_s))
        try:
            while not reached() and not (sleep and sleep.done()):
                look = asyncio.ensure_future(self._moved.wait())
                try:
                    waits = {look, sleep} if sleep else {look}
                    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    look.cancel()
            return reached()
        finally:
            if sleep:
                sleep.cancel()


async def within(clock: Clock, seconds: float, call: Awaitable[T]) -> T:
    """What `call` gives. Raises TimeoutError after `seconds`; the call is cancelled then, and has ended."""
    work = asyncio.ensure_future(call)
    sleep = asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait({work, sleep}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result()
        raise TimeoutError
    finally:
        for task in (work, sleep):
            task.cancel()
        await asyncio.gather(work, sleep, return_exceptions=True)


async def once_there_is_room(
    clock: Clock, call: Callable[[], Awaitable[T]], again_s: float = FULL_AGAIN_S
) -> T:
    """What `call` gives once it does not raise StoreFull any more; it is made again every `again_s`."""
    while True:
        try:
            return await call()
        except StoreFull:
            await clock.sleep(again_s)
