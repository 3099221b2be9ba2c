"""A chat without a terminal, whose lines are kept: what a test of chats talks through."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

from onechat_cli.adapters.agent import AgentClient
from onechat_cli.chat.conversation import Conversation
from onechat_cli.chat.kept import Kept
from onechat_cli.domain.transcript import Kind, Line
from onechat_runtime.clock import SystemClock

from tests.fakes.loopback import TOKENS


class ImpatientClock(SystemClock):
    """The machine's clock for one who waits only a moment, so that tries follow at once."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / 100)


class RecordedView:
    """Keeps what would be printed."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.left = False
        self.shows_pictures = True
        self.pictures: list[bytes] = []  #: those that would be drawn
        self._changed = asyncio.Event()

    def show(self, lines: Sequence[Line]) -> None:
        self.lines += lines
        self._changed.set()

    async def draw(self, content: bytes) -> None:
        self.pictures.append(content)
        self._changed.set()

    def refresh(self) -> None:
        self._changed.set()

    def leave(self) -> None:
        self.left = True

    def texts(self, *kinds: Kind) -> list[str]:
        """What was shown, in order; of all kinds or of `kinds`."""
        return [line.text for line in self.lines if not kinds or line.kind in kinds]

    async def until(self, condition: Callable[[], bool], within_s: float = 30.0) -> None:
        """Return once `condition` holds; TimeoutError after `within_s` of real time."""
        async with asyncio.timeout(within_s):
            while not condition():
                self._changed.clear()
                await self._changed.wait()


@asynccontextmanager
async def chatting(address: str, data: Path) -> AsyncIterator[tuple[Conversation, RecordedView]]:
    """A chat that runs on the folder `data`, and its view."""
    view = RecordedView()
    numbers = count()
    async with AgentClient.connect(address, TOKENS["operator"]) as client:
        chat = Conversation(
            client,
            Kept(data),
            view,
            clock=ImpatientClock(),
            new_key=lambda: f"cli:{data.name}{next(numbers)}",
        )
        running = asyncio.create_task(chat.run())
        try:
            yield chat, view
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def until_open(chat: Conversation, view: RecordedView) -> None:
    """Return once the chat has its agent."""
    await view.until(lambda: chat.connected and chat.name != "")
