"""The link to WhatsApp and the routes of its chats, as people read them. Instants are aware and UTC.

Whatever a terminal obeys is made harmless, also for a pipe. Where they come from: adapters/whatsapp.py.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final

from onechat_cli.domain.remembered import iso_utc
from onechat_cli.domain.safe_text import harmless_line, one_line

_CELL: Final = 120  # characters
_NO_ROUTES: Final = "No chat is routed to a child."
_MEANS: Final = {  # what a state means beyond its name; of the others the gateway says what is wrong
    "not linked": "Write /whatsapp pair and the account's number in the chat to link it.",
    "disconnected": "It connects again by itself.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """How the link is."""

    state: str  #: as the contract names it, "not linked"
    lost: bool  #: it was set up and does not work
    since: datetime | None
    last_connect: datetime | None
    last_disconnect: datetime | None
    ban_end: datetime | None
    last_event: datetime | None  #: when something last came from WhatsApp
    batches: int  #: not yet with the agent
    undecryptable: int  #: messages, of all chats together
    trouble: str  #: what is wrong and what to do; "" while nothing is


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What comes from a source goes to a child alone."""

    source: str  #: such as whatsapp:15550002222@s.whatsapp.net
    agent: str  #: the child's name


def link_lines(link: Link, routes: Sequence[Route] | None, zone: tzinfo) -> list[str]:
    """The link, then the routes, for people; no word of routes where they are not known (None)."""
    lines = list(_link_lines(link, zone))
    if routes is None:
        return lines
    shown = [f"route: {one_line(one.source, _CELL)} goes to {one_line(one.agent, _CELL)}" for one in routes]
    return [*lines, *(shown or [_NO_ROUTES])]


def link_row(link: Link, routes: Sequence[Route] | None) -> Mapping[str, object]:
    """All of it, as JSON has it; routes null where they are not known."""
    return {
        "state": link.state,
        "lost": link.lost,
        "since": _iso(link.since),
        "last_connect": _iso(link.last_connect),
        "last_disconnect": _iso(link.last_disconnect),
        "ban_end": _iso(link.ban_end),
        "last_event": _iso(link.last_event),
        "batches": link.batches,
        "undecryptable": link.undecryptable,
        "trouble": link.trouble or None,
        "routes": None if routes is None else [{"source": one.source, "agent": one.agent} for one in routes],
    }


def _link_lines(link: Link, zone: tzinfo) -> Iterator[str]:
    since = f" since {_moment(link.since, zone)}" if link.since else ""
    yield f"WhatsApp: {link.state}{since}"
    meaning = harmless_line(link.trouble) or _MEANS.get(link.state, "")
    if meaning:
        yield meaning
    times = (
        ("the ban ends", link.ban_end),
        ("last connected", link.last_connect),
        ("last disconnected", link.last_disconnect),
        ("last heard of", link.last_event),
    )
    for what, time in times:
        if time is not None:
            yield f"{what}: {_moment(time, zone)}"
    if link.batches:
        yield f"batches on their way to the agent: {link.batches}"
    if link.undecryptable:
        yield f"messages that could not be decrypted: {link.undecryptable}"


def _moment(time: datetime, zone: tzinfo) -> str:
    return f"{time.astimezone(zone):%Y-%m-%d %H:%M}"


def _iso(time: datetime | None) -> str | None:
    return None if time is None else iso_utc(time)
