"""What was typed and not accepted yet: sent in order, each until the agent has it or refuses it for good.

What an earlier chat could not send goes first. On disk: kept.py. How long between tries: domain/pauses.py.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from typing import Protocol

from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError, retriable

from onechat_cli.chat.kept import Kept
from onechat_cli.chat.page import Page
from onechat_cli.domain.pauses import Pauses
from onechat_cli.domain.typed import Typed


class Agent(Protocol):
    """The agent service; raises RemoteError."""

    async def deliver(self, typed: Typed) -> None:
        """Returns once `typed` is on the service's disk."""


class Unsent:
    """The messages that wait, oldest first. `run` sends them; `connected` says whether the agent is there."""

    def __init__(
        self, agent: Agent, kept: Kept, page: Page, clock: Clock, *, connected: Callable[[], bool]
    ) -> None:
        self._agent = agent
        self._kept = kept
        self._page = page
        self._clock = clock
        self._connected = connected
        self._waiting = deque(kept.unsent())
        self._wake = asyncio.Event()
        self._said_held = ""  # key of the last message of which it was said why it is not taken yet

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Typed]:
        return iter(self._waiting)

    def add(self, typed: Typed) -> None:
        """Send `typed` behind what waits; it is on disk until then, or the user is told that it is not."""
        try:
            self._kept.keep(typed)
        except OSError as error:
            self._page.remark(
                f"not kept on disk ({error.strerror}): it is lost if you leave before it is sent"
            )
        self._waiting.append(typed)
        self._wake.set()

    def wake(self) -> None:
        """End the pause: the agent may be there again."""
        self._wake.set()

    async def run(self) -> None:
        """Send until cancelled."""
        pauses = Pauses()
        while True:
            self._wake.clear()
            while self._waiting:
                if not await self._sent(self._waiting[0]):
                    break
                self._kept.forget(self._waiting.popleft())
                pauses.start_over()
                self._page.view.refresh()
            if self._waiting:
                await self._pause(pauses.next_s())
            else:
                await self._wake.wait()

    async def _sent(self, typed: Typed) -> bool:
        """Whether `typed` needs no other try: it was accepted, or refused for good, which is told."""
        try:
            await self._agent.deliver(typed)
        except RemoteError as error:
            if retriable(error.code):
                self._say_held(typed, error)
                return False
            self._page.transcript.awaited.discard(typed.key)
            self._page.remark(f"not accepted: {error.message}")
        return True

    def _say_held(self, typed: Typed, error: RemoteError) -> None:
        """Why an agent that is there does not take a message yet, such as a full disk; once a message."""
        if error.reason and self._connected() and typed.key != self._said_held:
            self._said_held = typed.key
            self._page.remark(f"not taken yet: {error.message} What you typed is kept and sent by itself.")

    async def _pause(self, pause_s: float) -> None:
        """Until something wakes the sender, at most `pause_s`."""
        sleeping = asyncio.ensure_future(self._clock.sleep(pause_s))
        waking = asyncio.ensure_future(self._wake.wait())
        try:
            await asyncio.wait({sleeping, waking}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            waking.cancel()
