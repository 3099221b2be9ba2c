"""The chat without a terminal: each line of the input is a message, and its reply is printed.

Replies alone go to stdout, the rest to stderr.
"""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError

from onechat_cli.adapters import picture_file
from onechat_cli.chat.asking import Agent, Asking
from onechat_cli.domain.picture_line import USAGE, PictureLine, picture_line
from onechat_cli.domain.safe_text import harmless
from onechat_cli.domain.typed import LEAVING, Typed, is_command


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A chat, one line after the other."""

    agent: Agent
    clock: Clock
    new_key: Callable[[], str]
    answer: Callable[[str], None]  #: gets each reply that is not empty
    aside: Callable[[str], None]  #: gets what is no reply

    async def take(self, lines: AsyncIterator[str]) -> None:
        """Send `lines` until they end or one says to leave; each waits for the answer to the one before."""
        async for line in lines:
            text = line.strip()
            if text.lower() in LEAVING:
                return
            if (picture := picture_line(text)) is not None:
                await self._picture(picture)
            elif text and not (is_command(text) and await self._command(text)):
                await self._message(text)

    async def _picture(self, line: PictureLine) -> None:
        if not line.path:
            self.aside(USAGE)
            return
        try:
            async with picture_file.opened(line.path) as pieces:
                name = await self.agent.put_image(pieces)
        except picture_file.NoPicture as why:
            self.aside(str(why))
        except RemoteError as error:
            self.aside(f"not accepted: {error.message}")
        else:
            await self._message(line.words, images=(name,))

    async def _message(self, text: str, *, images: tuple[str, ...] = ()) -> None:
        typed = Typed(key=self.new_key(), text=text, time=self.clock.now(), images=images)
        try:
            found = await Asking(self.agent, typed, self.clock).answer()
        except RemoteError as error:
            self.aside(f"not accepted: {error.message}")
            return
        if found.reply:
            self.answer(found.reply)
        elif found.reply is None:
            self.aside(found.notice)

    async def _command(self, line: str) -> bool:
        """Whether `line` was a command."""
        try:
            self.answer(await self.agent.command(line, request_id=self.new_key(), time=self.clock.now()))
        except RemoteError as error:
            if error.reason == "NOT_A_COMMAND":
                return False
            self.aside(error.message)
        return True


async def input_lines(file: int) -> AsyncIterator[str]:
    """The lines of the open file `file` as they come, without their ends. The file stays open."""
    loop = asyncio.get_running_loop()
    with os.fdopen(file, encoding="utf-8", errors="replace", closefd=False) as stream:
        while True:
            came: asyncio.Future[str] = loop.create_future()

            def read(came: asyncio.Future[str] = came) -> None:
                line = stream.readline()
                loop.call_soon_threadsafe(_settle, came, line)

            # A thread that waits for input must not hold up the end of the process.
            threading.Thread(target=read, name="input", daemon=True).start()
            line = await came
            if not line:
                return
            yield line.rstrip("\n")


def _settle(came: asyncio.Future[str], line: str) -> None:
    if not came.done():
        came.set_result(line)


def to_stderr(text: str) -> None:
    """Print what is no answer."""
    print(f"onechat: {harmless(text)}", file=sys.stderr, flush=True)
