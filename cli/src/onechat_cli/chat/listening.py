"""How a chat listens: it shows what happens, what was missed and what awaits an answer, whoever goes away.

It reconnects by itself, for ever, and goes on at its place, which is kept. What lines come of what is heard:
domain/transcript.py. What was shown before: reopening.py. Times are seconds.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Sequence
from datetime import datetime
from typing import Final, Protocol

from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError, retriable

from onechat_cli.chat.kept import Kept
from onechat_cli.chat.page import Page
from onechat_cli.chat.reopening import earlier_lines
from onechat_cli.domain.happening import Event, Heard, Opened, Pictured, Place, Proposed
from onechat_cli.domain.pauses import Pauses
from onechat_cli.domain.transcript import Kind, Line

LAST_EVENTS: Final = 40  # shown at the very first opening: the last few exchanges
ASKED: Final = 10  # proposals shown at an opening; /proposals shows more
_DRAW_S: Final = 5.0


class Agent(Protocol):
    """The agent service; every call raises RemoteError."""

    def hear(self, place: Place | None, *, last: int = 0) -> AsyncGenerator[Heard, None]:
        """What happens, from after `place`, else from the newest `last` kept events."""

    async def root(self) -> tuple[str, str]:
        """The root's id and name."""

    async def image(self, name: str) -> bytes:
        """The stored image of this name."""

    async def open_proposals(self, most: int) -> list[tuple[str, Proposed]]:
        """What awaits the user's yes, with who asks: the newest `most`, the oldest of them first."""


class Listening:
    """One chat's stream of events, shown on `page`. `opened` is called each time that it is open."""

    def __init__(
        self, agent: Agent, kept: Kept, page: Page, clock: Clock, *, opened: Callable[[], None]
    ) -> None:
        self._agent = agent
        self._kept = kept
        self._page = page
        self._clock = clock
        self._when_open = opened
        self._place = kept.place()
        self._opened_at: datetime | None = None
        self._header_due = True
        self._earlier_due = self._place is not None
        self._asked_due = True
        self._left: Sequence[Line] = ()
        self._said_away = False
        self.name = ""  #: the root's; empty before it is known
        self.connected = False
        self.tried = False  #: the service was reached or missed at least once

    async def run(self, left: Sequence[Line]) -> None:
        """Listen until cancelled; `left` are lines that stand below what was before this chat."""
        self._left = left
        pauses = Pauses()
        while True:
            try:
                async for heard in self._agent.hear(self._place, last=LAST_EVENTS):
                    pauses.start_over()
                    await self._heard(heard)
            except RemoteError as error:
                if error.reason == "EVENTS_GONE":
                    self._gone(error)
                    continue
                self._away(error)
            else:
                self._away(None)
            await self._clock.sleep(pauses.next_s())

    async def _heard(self, heard: Heard) -> None:
        if isinstance(heard.item, Opened):
            await self._opened()
            return
        lines = self._page.transcript.fold(heard.item)
        if isinstance(heard.item, Event):
            if lines:
                self._header(heard.item)
            self._place = Place(stream=heard.place.stream, number=heard.item.number)
            self._kept.keep_place(self._place)
        self._page.show(lines)
        if lines and isinstance(heard.item, Event) and isinstance(heard.item.body, Pictured):
            await self._draw(heard.item.body.image)
        self._page.view.refresh()

    async def _draw(self, name: str) -> None:
        """The picture under its line; what follows waits a little for it, and stands below."""
        if self._page.view.shows_pictures:
            with contextlib.suppress(RemoteError, TimeoutError):  # then its line stands alone
                async with asyncio.timeout(_DRAW_S):
                    await self._page.view.draw(await self._agent.image(name))

    async def _opened(self) -> None:
        transcript = self._page.transcript
        self._opened_at = self._clock.now()
        transcript.reopened(same_stream=True)
        self.connected = self.tried = True
        if self._said_away:
            self._said_away = False
            self._page.remark("back")
        with contextlib.suppress(RemoteError):  # then every agent's answers are shown as they come
            transcript.root_id, self.name = await self._agent.root()
        if self._earlier_due and self._place is not None:
            self._earlier_due = False
            self._page.show(await earlier_lines(self._agent, self._place, transcript))
        self._show_left()
        await self._show_asked()
        self._when_open()
        self._page.view.refresh()

    async def _show_asked(self) -> None:
        """What has no answer yet, also where it was asked long before what is shown here."""
        with contextlib.suppress(RemoteError):
            for agent, proposed in await self._agent.open_proposals(ASKED):
                self._page.show(self._page.transcript.still_open(agent, proposed, again=self._asked_due))
            self._asked_due = False

    def _header(self, event: Event) -> None:
        """Before the first line of what was missed, say so; nothing before what happens now."""
        if self._header_due and self._opened_at is not None and event.time < self._opened_at:
            begun = f"from {event.time.astimezone():%Y-%m-%d %H:%M}:"
            text = f"since you were last here, {begun}" if self._place else begun
            self._page.show([Line(kind=Kind.HEADING, text=text, first=True)])
        self._header_due = False

    def _gone(self, error: RemoteError) -> None:
        """The place is not there any more: say what is missing, and go on from what is there."""
        stream, oldest = error.metadata.get("stream", ""), error.metadata.get("oldest", "")
        place = self._place
        if place is not None and stream == place.stream and oldest.isdigit() and place.number < int(oldest):
            if self._header_due:
                self._page.remark(
                    "you were away longer than events are kept: what came before this is not shown"
                )
            # The place before the oldest event; the next try, where the service means that by the oldest.
            self._place = Place(stream=stream, number=max(int(oldest) - 1, place.number + 1))
        else:
            self._page.remark(
                "this is another store than last time, a new or a restored one; its last events:"
            )
            self._place = None
            self._page.transcript.reopened(same_stream=False)
        self._header_due = self._earlier_due = False

    def _away(self, error: RemoteError | None) -> None:
        self.connected, self.tried = False, True
        if not self._said_away:
            self._said_away = True
            self._page.remark(_why(error))
        self._show_left()
        self._page.view.refresh()

    def _show_left(self) -> None:
        """Once what came before them is there, or cannot be had now."""
        left, self._left = self._left, ()
        self._page.show(left)


def _why(error: RemoteError | None) -> str:
    if error is not None and not retriable(error.code):
        return f"the agent service refuses: {error.message}; trying again"
    if error is not None and error.reason in ("TOKEN_UNKNOWN", "TOKEN_MISSING"):
        return "the agent service does not know this token: see ONECHAT_TOKEN_FILE; trying again"
    return "the agent service is away; trying again, and what you type is kept"
