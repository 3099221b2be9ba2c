"""How the link to WhatsApp is, and what each change makes of it. Pure: the times are given.

Instants are aware, UTC. Who makes the changes: link.py. What the user is told of them: notices.py.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

FIRST_DELAY_S: Final = 2.0
LONGEST_DELAY_S: Final = 300.0
AWAY_TOLD_AFTER_S: Final = 600.0
SHORTEST_BAN: Final = timedelta(minutes=10)  #: so that a short one, said again and again, is no storm


class LinkState(StrEnum):
    """Named as in the contract."""

    NOT_LINKED = "not_linked"
    CONNECTED = "connected"
    DISCONNECTED = "disconnected"
    LOGGED_OUT = "logged_out"
    REPLACED = "replaced"
    BANNED = "banned"
    OUTDATED = "outdated"


UNLINKED: Final = frozenset({LinkState.NOT_LINKED, LinkState.LOGGED_OUT})  #: there is no session
ENDED: Final = frozenset({LinkState.LOGGED_OUT, LinkState.REPLACED, LinkState.BANNED, LinkState.OUTDATED})

SENTENCES: Final = {
    LinkState.NOT_LINKED: "WhatsApp is not linked: /whatsapp pair PHONE links it.",
    LinkState.DISCONNECTED: (
        "WhatsApp is linked but disconnected; it is tried again by itself. Look at the network."
    ),
    LinkState.LOGGED_OUT: (
        "WhatsApp has ended the link: the device was removed on the phone, or WhatsApp removed it. "
        "/whatsapp pair PHONE links it again."
    ),
    LinkState.REPLACED: (
        "Another program uses this WhatsApp session, so this one has stopped: end the other, then start "
        "onechat again."
    ),
    LinkState.BANNED: (
        "WhatsApp has shut the account out for a time, so nothing is read or sent. Open WhatsApp on the "
        "phone: it says why."
    ),
    LinkState.OUTDATED: (
        "WhatsApp wants a newer version of what connects here, so nothing is read or sent: update onechat."
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkNow:
    """The link as it is, and what is remembered of how it was."""

    state: LinkState
    since: datetime  #: when it became so
    linked_since: datetime | None = None  #: None while not linked
    last_connect: datetime | None = None
    last_disconnect: datetime | None = None
    ban_end: datetime | None = None  #: only while banned, where WhatsApp says it
    away_since: datetime | None = None  #: only while a link is without a connection
    away_told: bool = False  #: the user was told of it, and shall be told when it is over
    trying: bool = False  #: it is tried although WhatsApp had ended it: once at a start, and after a ban

    @property
    def linked(self) -> bool:
        """Whether there is a session."""
        return self.state not in UNLINKED

    @property
    def usable(self) -> bool:
        """Whether a connection should be there: there is a session, and WhatsApp has not shut it out."""
        return self.linked and (self.trying or self.state not in ENDED)


def delay_after(failures: int) -> float:
    """Seconds until the next attempt, after `failures` in a row, at least one."""
    return min(LONGEST_DELAY_S, FIRST_DELAY_S * 2.0 ** min(failures - 1, 10))


def found(kept: LinkNow | None, now: datetime, *, session: bool) -> LinkNow:
    """The link at a start, by what was kept of it and by whether the session is there."""
    link = kept or LinkNow(state=LinkState.NOT_LINKED, since=now)
    if not session:
        return gone(link, now) if link.linked else link
    if not link.linked:  # it was linked in the moment in which the last process ended, or was restored
        return linked(link, now)
    if link.state in ENDED:
        over = link.ban_end is None or link.ban_end <= now or now < link.since  # the clock was set back
        return replace(link, trying=over)
    # How long it was away while nothing ran is not the network's doing: the ten minutes begin now.
    return replace(lost(link, now), away_since=now)


def linked(link: LinkNow, now: datetime) -> LinkNow:
    """A pairing has worked; the connection is still to come."""
    return LinkNow(
        state=LinkState.DISCONNECTED,
        since=now,
        linked_since=now,
        last_connect=link.last_connect,
        last_disconnect=link.last_disconnect,
        away_since=now,
    )


def connected(link: LinkNow, now: datetime) -> LinkNow:
    """The account is logged in."""
    if link.state is LinkState.CONNECTED or not link.linked:
        return link
    return LinkNow(
        state=LinkState.CONNECTED,
        since=now,
        linked_since=link.linked_since,
        last_connect=now,
        last_disconnect=link.last_disconnect,
    )


def lost(link: LinkNow, now: datetime) -> LinkNow:
    """The connection is not there. What WhatsApp has ended stays so until a connection comes."""
    if link.state is not LinkState.CONNECTED:
        return link
    return replace(link, state=LinkState.DISCONNECTED, since=now, last_disconnect=now, away_since=now)


def ended(link: LinkNow, state: LinkState, now: datetime, ban_s: float = 0.0) -> LinkNow:
    """WhatsApp has ended the link or the connection, as one of ENDED says; the user is told of it at once.

    `ban_s` is what WhatsApp says of a ban's length; 0: nothing.
    """
    if not link.linked:
        return link
    if state is LinkState.LOGGED_OUT:
        return replace(gone(link, now), state=state)
    return replace(
        link,
        state=state,
        since=link.since if link.state is state else now,
        last_disconnect=now if link.state is LinkState.CONNECTED else link.last_disconnect,
        ban_end=now + max(SHORTEST_BAN, timedelta(seconds=ban_s)) if ban_s > 0 else None,
        away_since=link.away_since or now,
        away_told=True,
        trying=False,
    )


def gone(link: LinkNow, now: datetime) -> LinkNow:
    """There is no session any more."""
    return LinkNow(
        state=LinkState.NOT_LINKED,
        since=now,
        last_connect=link.last_connect,
        last_disconnect=now if link.state is LinkState.CONNECTED else link.last_disconnect,
    )


def due_in_s(link: LinkNow, now: datetime, away_s: float) -> float | None:
    """In how many seconds time alone changes something; None: never. See `passed`.

    `away_s` is how long there has been no connection, by a clock that nobody sets.
    """
    if link.state is LinkState.BANNED and not link.trying:
        return None if link.ban_end is None else (link.ban_end - now).total_seconds()
    if link.state is LinkState.DISCONNECTED and link.away_since is not None and not link.away_told:
        return AWAY_TOLD_AFTER_S - away_s
    return None


def passed(link: LinkNow, now: datetime, away_s: float) -> LinkNow:
    """The link once it is due: a ban is over, or the user is to be told of a connection not there."""
    due_s = due_in_s(link, now, away_s)
    if due_s is None or due_s > 0:
        return link
    if link.state is LinkState.BANNED:
        return replace(link, trying=True, ban_end=None)
    return replace(link, away_told=True)
