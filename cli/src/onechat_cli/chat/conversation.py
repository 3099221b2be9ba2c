"""A chat without a screen: it listens, sends what was typed until it is accepted, and says what it missed.

It reconnects by itself, for ever. What lines come of it: domain/transcript.py. What was shown before:
reopening.py. Where lines are shown: screen.py. Times are seconds.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Sequence
from datetime import datetime
from typing import Final, Protocol

from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError, retriable

from onechat_cli.adapters import picture_file
from onechat_cli.chat.kept import Kept
from onechat_cli.chat.reopening import earlier_lines
from onechat_cli.domain.happening import Event, Heard, Opened, Pictured, Place, Proposed
from onechat_cli.domain.picture_line import USAGE, PictureLine, picture_line
from onechat_cli.domain.safe_text import sendable
from onechat_cli.domain.transcript import Kind, Line, Transcript
from onechat_cli.domain.typed import LEAVING, Typed, is_command

LAST_EVENTS: Final = 40  # shown at the very first opening: the last few exchanges
ASKED: Final = 10  # proposals shown at an opening; /proposals shows more
_DRAW_S: Final = 5.0
_AGAIN_S: Final = (0.3, 5.0)  # the first pause before another try, and the longest


class Agent(Protocol):
    """The agent service; every call raises RemoteError."""

    async def deliver(self, typed: Typed) -> None:
        """Returns once `typed` is on the service's disk."""

    def hear(self, place: Place | None, *, last: int = 0) -> AsyncGenerator[Heard, None]:
        """What happens, from after `place`, else from the newest `last` kept events."""

    async def root(self) -> tuple[str, str]:
        """The root's id and name."""

    async def command(self, line: str, *, request_id: str, time: datetime) -> str:
        """The answer to a command line."""

    async def stop(self, *, request_id: str, before: datetime) -> list[str]:
        """Stops the root's turn; whose were stopped."""

    async def put_image(self, pieces: AsyncIterable[bytes]) -> str:
        """Stores an image; the name by which a message names it."""

    async def image(self, name: str) -> bytes:
        """The stored image of this name."""

    async def open_proposals(self, most: int) -> list[tuple[str, Proposed]]:
        """What awaits the user's yes, with who asks: the newest `most`, the oldest of them first."""


class View(Protocol):
    """Where the chat is shown."""

    def show(self, lines: Sequence[Line]) -> None:
        """Print final lines, in order."""

    @property
    def shows_pictures(self) -> bool:
        """Whether it can."""

    async def draw(self, content: bytes) -> None:
        """Print a picture below what was shown; what is no picture is left out."""

    def refresh(self) -> None:
        """What still changes has changed."""

    def leave(self) -> None:
        """The user is done."""


class Conversation:
    """One chat with the root. `run` does the work; the rest is called by the screen, in the same loop."""

    def __init__(
        self, agent: Agent, kept: Kept, view: View, *, clock: Clock, new_key: Callable[[], str]
    ) -> None:
        self._agent = agent
        self._kept = kept
        self._view = view
        self._clock = clock
        self._new_key = new_key
        self._place = kept.place()
        self._unsent = deque(kept.unsent())
        self._wake = asyncio.Event()
        self._tasks = set[asyncio.Task[None]]()
        self._opened_at: datetime | None = None
        self._header_due = True
        self._earlier_due = self._place is not None
        self._asked_due = True
        self._left: list[Line] = []  # of messages that the last chat could not send, until they are shown
        self._said_away = False
        self._said_held = ""
        self.transcript = Transcript()
        self.name = ""  #: the root's; empty before it is known
        self.connected = False
        self.tried = False  #: the service was reached or missed at least once

    @property
    def unsent(self) -> int:
        """How many messages wait to be accepted."""
        return len(self._unsent)

    async def run(self) -> None:
        """Listen and send until cancelled."""
        if self._unsent:
            count = f"{len(self._unsent)} of your messages had not been accepted; sending them now"
            self._left = [Line(kind=Kind.REMARK, text=count, first=True)]
        for typed in self._unsent:
            self._left += self.transcript.typed(typed.key, typed.text, images=len(typed.images))
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._listen())
                group.create_task(self._send())
        finally:
            for task in self._tasks:
                task.cancel()

    def say(self, text: str) -> None:
        """The user has entered `text`: a message, a command, or the wish to leave."""
        text = sendable(text.strip("\n").rstrip())
        if not text.strip():
            return
        if text.strip().lower() in LEAVING:
            self._view.leave()
        elif (picture := picture_line(text)) is not None:
            self._start(self._send_picture(picture))
        elif is_command(text):
            self._show(self.transcript.commanded(text))
            self._start(self._command(text))
        else:
            self._accept(text, shown=False)

    def stop(self) -> None:
        """The user wants the turn at work to end."""
        self._start(self._stop())

    def _accept(self, text: str, *, shown: bool, images: tuple[str, ...] = ()) -> None:
        typed = Typed(key=self._new_key(), text=text, time=self._clock.now(), images=images)
        try:
            self._kept.keep(typed)
        except OSError as error:
            self._remark(f"not kept on disk ({error.strerror}): it is lost if you leave before it is sent")
        lines = self.transcript.typed(typed.key, text, images=len(images))
        if not shown:
            self._show(lines)
        self._unsent.append(typed)
        self._wake.set()
        self._view.refresh()

    async def _listen(self) -> None:
        pause = _AGAIN_S[0]
        while True:
            try:
                async for heard in self._agent.hear(self._place, last=LAST_EVENTS):
                    pause = _AGAIN_S[0]
                    await self._heard(heard)
            except RemoteError as error:
                if error.reason == "EVENTS_GONE":
                    self._gone(error)
                    continue
                self._away(error)
            else:
                self._away(None)
            await self._clock.sleep(pause)
            pause = min(pause * 2, _AGAIN_S[1])

    async def _heard(self, heard: Heard) -> None:
        if isinstance(heard.item, Opened):
            await self._opened()
            return
        lines = self.transcript.fold(heard.item)
        if isinstance(heard.item, Event):
            if lines:
                self._header(heard.item)
            self._place = Place(stream=heard.place.stream, number=heard.item.number)
            self._kept.keep_place(self._place)
        self._show(lines)
        if lines and isinstance(heard.item, Event) and isinstance(heard.item.body, Pictured):
            await self._draw(heard.item.body.image)
        self._view.refresh()

    async def _draw(self, name: str) -> None:
        """The picture under its line; what follows waits a little for it, and stands below."""
        if self._view.shows_pictures:
            with contextlib.suppress(RemoteError, TimeoutError):  # then its line stands alone
                async with asyncio.timeout(_DRAW_S):
                    await self._view.draw(await self._agent.image(name))

    async def _opened(self) -> None:
        self._opened_at = self._clock.now()
        self.transcript.reopened(same_stream=True)
        self.connected = self.tried = True
        if self._said_away:
            self._said_away = False
            self._remark("back")
        with contextlib.suppress(RemoteError):  # then every agent's answers are shown as they come
            self.transcript.root_id, self.name = await self._agent.root()
        if self._earlier_due and self._place is not None:
            self._earlier_due = False
            self._show(await earlier_lines(self._agent, self._place, self.transcript))
        self._show_left()
        await self._show_asked()
        self._wake.set()
        self._view.refresh()

    async def _show_asked(self) -> None:
        """What has no answer yet, also where it was asked long before what is shown here."""
        with contextlib.suppress(RemoteError):
            for agent, proposed in await self._agent.open_proposals(ASKED):
                self._show(self.transcript.still_open(agent, proposed, again=self._asked_due))
            self._asked_due = False

    def _header(self, event: Event) -> None:
        """Before the first line of what was missed, say so; nothing before what happens now."""
        if self._header_due and self._opened_at is not None and event.time < self._opened_at:
            begun = f"from {event.time.astimezone():%Y-%m-%d %H:%M}:"
            text = f"since you were last here, {begun}" if self._place else begun
            self._show([Line(kind=Kind.HEADING, text=text, first=True)])
        self._header_due = False

    def _gone(self, error: RemoteError) -> None:
        """The place is not there any more: say what is missing, and go on from what is there."""
        stream, oldest = error.metadata.get("stream", ""), error.metadata.get("oldest", "")
        place = self._place
        if place is not None and stream == place.stream and oldest.isdigit() and place.number < int(oldest):
            if self._header_due:
                self._remark("you were away longer than events are kept: what came before this is not shown")
            # The place before the oldest event; the next try, where the service means that by the oldest.
            self._place = Place(stream=stream, number=max(int(oldest) - 1, place.number + 1))
        else:
            self._remark("this is another store than last time, a new or a restored one; its last events:")
            self._place = None
            self.transcript.reopened(same_stream=False)
        self._header_due = self._earlier_due = False

    def _away(self, error: RemoteError | None) -> None:
        self.connected, self.tried = False, True
        if not self._said_away:
            self._said_away = True
            self._remark(_why(error))
        self._show_left()
        self._view.refresh()

    async def _send(self) -> None:
        pause = _AGAIN_S[0]
        while True:
            self._wake.clear()
            while self._unsent:
                typed = self._unsent[0]
                try:
                    await self._agent.deliver(typed)
                except RemoteError as error:
                    if retriable(error.code):
                        self._say_held(typed, error)
                        break
                    self.transcript.awaited.discard(typed.key)
                    self._remark(f"not accepted: {error.message}")
                self._kept.forget(typed)
                self._unsent.popleft()
                pause = _AGAIN_S[0]
                self._view.refresh()
            if self._unsent:
                await self._wait(pause)
                pause = min(pause * 2, _AGAIN_S[1])
            else:
                await self._wake.wait()

    def _say_held(self, typed: Typed, error: RemoteError) -> None:
        """Why an agent that is there does not take a message yet, such as a full disk; once a message."""
        if error.reason and self.connected and typed.key != self._said_held:
            self._said_held = typed.key
            self._remark(f"not taken yet: {error.message} What you typed is kept and sent by itself.")

    async def _wait(self, pause: float) -> None:
        """Until something wakes the sender, at most `pause`."""
        sleeping = asyncio.ensure_future(self._clock.sleep(pause))
        waking = asyncio.ensure_future(self._wake.wait())
        try:
            await asyncio.wait({sleeping, waking}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            waking.cancel()

    async def _send_picture(self, line: PictureLine) -> None:
        """It goes to the agent first, and then the message that names it."""
        if not line.path:
            self._remark(USAGE)
            return
        try:
            async with picture_file.opened(line.path) as pieces:
                name = await self._agent.put_image(pieces)
        except picture_file.NoPicture as why:
            self._remark(str(why))
        except RemoteError as error:
            away = "the agent is away: send the picture again when it is back"
            self._remark(away if retriable(error.code) else f"not accepted: {error.message}")
        else:
            self._accept(line.words, shown=False, images=(name,))

    async def _command(self, line: str) -> None:
        try:
            answer = await self._agent.command(line, request_id=self._new_key(), time=self._clock.now())
        except RemoteError as error:
            if error.reason == "NOT_A_COMMAND":
                self._accept(line, shown=True)
            elif retriable(error.code):
                self._remark("the agent is away: give the command again when it is back")
            else:
                self._remark(error.message)
            return
        self._show(self.transcript.answered(line, answer))

    async def _stop(self) -> None:
        try:
            stopped = await self._agent.stop(request_id=self._new_key(), before=self._clock.now())
        except RemoteError as error:
            self._remark("the agent is away" if retriable(error.code) else error.message)
            return
        if not stopped:
            self._remark("nothing is at work")

    def _start(self, work: "asyncio._CoroutineLike[None]") -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _remark(self, text: str) -> None:
        self._show([Line(kind=Kind.REMARK, text=text, first=True)])

    def _show_left(self) -> None:
        """Once what came before them is there, or cannot be had now."""
        left, self._left = self._left, []
        self._show(left)

    def _show(self, lines: Sequence[Line]) -> None:
        if lines:
            self._view.show(lines)


def _why(error: RemoteError | None) -> str:
    if error is not None and not retriable(error.code):
        return f"the agent service refuses: {error.message}; trying again"
    if error is not None and error.reason in ("TOKEN_UNKNOWN", "TOKEN_MISSING"):
        return "the agent service does not know this token: see ONECHAT_TOKEN_FILE; trying again"
    return "the agent service is away; trying again, and what you type is kept"
