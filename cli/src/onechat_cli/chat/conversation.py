"""A chat without a screen: what the user enters, and who does it.

A message is sent by unsent.py until it is accepted; what happens is heard and shown by listening.py. A
command, a stop and a picture are tried once, and a failure is told.
"""

import asyncio
from collections.abc import AsyncIterable, Callable
from datetime import datetime
from typing import Protocol

from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError, retriable

from onechat_cli.adapters import picture_file
from onechat_cli.chat.kept import Kept
from onechat_cli.chat.listening import Agent as ListenedTo
from onechat_cli.chat.listening import Listening
from onechat_cli.chat.page import Page, View, remark
from onechat_cli.chat.unsent import Agent as SentTo
from onechat_cli.chat.unsent import Unsent
from onechat_cli.domain.picture_line import USAGE, PictureLine, picture_line
from onechat_cli.domain.safe_text import sendable
from onechat_cli.domain.transcript import Line
from onechat_cli.domain.typed import LEAVING, Typed, is_command


class Agent(ListenedTo, SentTo, Protocol):
    """The agent service; every call raises RemoteError."""

    async def command(self, line: str, *, request_id: str, time: datetime) -> str:
        """The answer to a command line."""

    async def stop(self, *, request_id: str, before: datetime) -> list[str]:
        """Stops the root's turn; whose were stopped."""

    async def put_image(self, pieces: AsyncIterable[bytes]) -> str:
        """Stores an image; the name by which a message names it."""


class Conversation:
    """One chat with the root. `run` does the work; the rest is called by the screen, in the same loop."""

    def __init__(
        self, agent: Agent, kept: Kept, view: View, *, clock: Clock, new_key: Callable[[], str]
    ) -> None:
        self._agent = agent
        self._clock = clock
        self._new_key = new_key
        self._page = Page(view)
        self._unsent = Unsent(agent, kept, self._page, clock, connected=lambda: self.connected)
        self._listening = Listening(agent, kept, self._page, clock, opened=self._unsent.wake)
        self._tasks = set[asyncio.Task[None]]()
        self.transcript = self._page.transcript

    @property
    def unsent(self) -> int:
        """How many messages wait to be accepted."""
        return len(self._unsent)

    @property
    def name(self) -> str:
        """The root's; empty before it is known."""
        return self._listening.name

    @property
    def connected(self) -> bool:
        """Whether the agent service is there."""
        return self._listening.connected

    @property
    def tried(self) -> bool:
        """Whether the service was reached or missed at least once."""
        return self._listening.tried

    async def run(self) -> None:
        """Listen and send until cancelled."""
        left = self._left_by_the_last_chat()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._listening.run(left))
                group.create_task(self._unsent.run())
        finally:
            for task in self._tasks:
                task.cancel()

    def say(self, text: str) -> None:
        """The user has entered `text`: a message, a command, or the wish to leave."""
        text = sendable(text.strip("\n").rstrip())
        if not text.strip():
            return
        if text.strip().lower() in LEAVING:
            self._page.view.leave()
        elif (picture := picture_line(text)) is not None:
            self._start(self._send_picture(picture))
        elif is_command(text):
            self._page.show(self.transcript.commanded(text))
            self._start(self._command(text))
        else:
            self._accept(text, shown=False)

    def stop(self) -> None:
        """The user wants the turn at work to end."""
        self._start(self._stop())

    def _left_by_the_last_chat(self) -> list[Line]:
        """The lines of messages that it could not send, under one that says so."""
        lines: list[Line] = []
        if self._unsent:
            count = f"{len(self._unsent)} of your messages had not been accepted; sending them now"
            lines.append(remark(count))
        for typed in self._unsent:
            lines += self.transcript.typed(typed.key, typed.text, images=len(typed.images))
        return lines

    def _accept(self, text: str, *, shown: bool, images: tuple[str, ...] = ()) -> None:
        typed = Typed(key=self._new_key(), text=text, time=self._clock.now(), images=images)
        self._unsent.add(typed)
        lines = self.transcript.typed(typed.key, text, images=len(images))
        if not shown:
            self._page.show(lines)
        self._page.view.refresh()

    async def _send_picture(self, line: PictureLine) -> None:
        """It goes to the agent first, and then the message that names it."""
        if not line.path:
            self._page.remark(USAGE)
            return
        try:
            async with picture_file.opened(line.path) as pieces:
                name = await self._agent.put_image(pieces)
        except picture_file.NoPicture as why:
            self._page.remark(str(why))
        except RemoteError as error:
            away = "the agent is away: send the picture again when it is back"
            self._page.remark(away if retriable(error.code) else f"not accepted: {error.message}")
        else:
            self._accept(line.words, shown=False, images=(name,))

    async def _command(self, line: str) -> None:
        try:
            answer = await self._agent.command(line, request_id=self._new_key(), time=self._clock.now())
        except RemoteError as error:
            if error.reason == "NOT_A_COMMAND":
                self._accept(line, shown=True)
            elif retriable(error.code):
                self._page.remark("the agent is away: give the command again when it is back")
            else:
                self._page.remark(error.message)
            return
        self._page.show(self.transcript.answered(line, answer))

    async def _stop(self) -> None:
        try:
            stopped = await self._agent.stop(request_id=self._new_key(), before=self._clock.now())
        except RemoteError as error:
            self._page.remark("the agent is away" if retriable(error.code) else error.message)
            return
        if not stopped:
            self._page.remark("nothing is at work")

    def _start(self, work: "asyncio._CoroutineLike[None]") -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
