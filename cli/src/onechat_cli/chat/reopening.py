"""What a chat had shown before it was left, read once more when it is opened again.

It is read aside from the stream that goes on at the place, which alone moves the place. Which part of it is
shown: domain/earlier.py. Times are seconds.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Final, Protocol

from onechat_runtime.errors import RemoteError

from onechat_cli.domain.earlier import last_exchanges
from onechat_cli.domain.happening import Event, Heard, Place
from onechat_cli.domain.transcript import Kind, Line, Transcript

REACH: Final = 600  # numbers before the place; three exchanges take less, but for turns of very many calls
_WITHIN_S: Final = 2.0  # what is new must not wait for what is known


class Agent(Protocol):
    """The agent service; raises RemoteError."""

    def hear(self, place: Place | None, *, last: int = 0) -> AsyncGenerator[Heard, None]:
        """What happens, from after `place`."""


async def earlier_lines(
    agent: Agent, place: Place, transcript: Transcript, *, within_s: float = _WITHIN_S
) -> list[Line]:
    """The last exchanges up to `place`, under a line that says so; empty when there are none to be had.

    `transcript` is one without events; afterwards it knows what was at work at `place`.
    """
    try:
        async with asyncio.timeout(within_s):
            events = await _events_up_to(agent, place)
    except (RemoteError, TimeoutError):
        return []
    shown = last_exchanges((event, transcript.fold(event)) for event in events)
    if shown.since is None:
        return []
    begun = f"earlier, from {shown.since.astimezone():%Y-%m-%d %H:%M}:"
    return [Line(kind=Kind.HEADING, text=begun, first=True, earlier=True), *shown.lines]


async def _events_up_to(agent: Agent, place: Place) -> list[Event]:
    """The kept events up to `place` and within REACH of it, all of them."""
    try:
        return await _between(agent, replace(place, number=max(place.number - REACH, 0)), place.number)
    except RemoteError as error:
        oldest = error.metadata.get("oldest", "")
        if error.reason != "EVENTS_GONE" or not oldest.isdigit() or int(oldest) > place.number:
            raise
        return await _between(agent, replace(place, number=int(oldest) - 1), place.number)


async def _between(agent: Agent, start: Place, end: int) -> list[Event]:
    """The kept events after `start` and up to the number `end`; none when the stream ends before that."""
    found: list[Event] = []
    async with aclosing(agent.hear(start)) as stream:
        async for heard in stream:
            if not isinstance(heard.item, Event):
                continue
            if heard.item.number <= end:
                found.append(heard.item)
            if heard.item.number >= end:
                return found
    return []
