"""Whether what WhatsApp kept for us is still coming, so that batches wait to go together. Pure.

A catch-up begins with each new connection, and at a start with the attempt to make one, since batches of the
last run wait for it as well. It is over when WhatsApp says so, when nothing more can come, or after a minute.
Instants are aware, UTC. What happens then: onechat_whatsapp/catch_up.py.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

LONGEST: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """How the wait for a catch-up is."""

    online: bool = False  #: the connection stands, as far as was told
    until: datetime | None = None  #: when the wait is over at the latest; None: there is none
    connected: bool = False  #: of a wait: a connection has come, with which its minute began


def started(now: datetime, *, linked: bool) -> Waiting:
    """At a start. Without a link nothing can come, and what was kept goes at once."""
    return Waiting(until=now + LONGEST if linked else now)


def came(waiting: Waiting, now: datetime) -> Waiting:
    """The connection stands. One that breaks and comes back within a catch-up makes it no longer."""
    if waiting.online or waiting.connected:
        return replace(waiting, online=True)
    return Waiting(online=True, until=now + LONGEST, connected=True)


def heard(waiting: Waiting, now: datetime) -> Waiting:
    """A message has come: there is a connection, though it was not told of yet."""
    return waiting if waiting.online else replace(came(waiting, now), online=False)


def broke(waiting: Waiting) -> Waiting:
    """The connection is gone; the next one goes on with what is still to come."""
    return replace(waiting, online=False)


def finished(waiting: Waiting, now: datetime) -> Waiting:
    """All has come."""
    return waiting if waiting.until is None else replace(waiting, until=min(now, waiting.until))


def ended(waiting: Waiting, now: datetime) -> Waiting:
    """The connection is gone and is not made again by itself: nothing more comes."""
    return finished(broke(waiting), now)


def is_over(waiting: Waiting, now: datetime) -> bool:
    """Whether what waited goes now; a clock that was set back makes nothing wait for longer."""
    return waiting.until is not None and not waiting.until - LONGEST <= now < waiting.until


def gone(waiting: Waiting) -> Waiting:
    """What waited is on its way."""
    return Waiting(online=waiting.online)
