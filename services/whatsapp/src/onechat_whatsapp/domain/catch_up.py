"""Whether what WhatsApp kept for us is still coming, so that batches wait to go together. Pure.

A catch-up begins with each new connection, and at a start with the attempt to make one, since batches of the
last run wait for it as well. It is over when WhatsApp says so, when nothing more can come, or after a minute.
Instants are seconds of a clock that goes forward alone, so that a correction of the time of day ends none.
What happens then: onechat_whatsapp/catch_up.py.
"""

from dataclasses import dataclass, replace
from typing import Final

LONGEST_S: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """How the wait for a catch-up is."""

    online: bool = False  #: the connection stands, as far as was told
    until: float | None = None  #: when the wait is over at the latest; None: there is none
    connected: bool = False  #: of a wait: a connection has come, with which its minute began
    next_until: float | None = None  #: of a wait: a second connection came in it, whose own minute ends then


def started(now: float, *, linked: bool) -> Waiting:
    """At a start. Without a link nothing can come, and what was kept goes at once."""
    return Waiting(until=now + LONGEST_S if linked else now)


def came(waiting: Waiting, now: float) -> Waiting:
    """The connection stands. One that breaks and comes back within a catch-up makes that one no longer, but
    what is left of its own minute is a catch-up after it."""
    if waiting.online:
        return waiting
    if waiting.connected:
        return replace(waiting, online=True, next_until=now + LONGEST_S)
    return Waiting(online=True, until=now + LONGEST_S, connected=True)


def heard(waiting: Waiting, now: float) -> Waiting:
    """A message has come: there is a connection, though it was not told of yet."""
    if waiting.online or waiting.until is not None:
        return waiting
    return Waiting(until=now + LONGEST_S)


def broke(waiting: Waiting) -> Waiting:
    """The connection is gone; the next one goes on with what is still to come."""
    return replace(waiting, online=False, next_until=None)


def finished(waiting: Waiting, now: float) -> Waiting:
    """All has come."""
    if waiting.until is None:
        return waiting
    return replace(waiting, until=min(now, waiting.until), next_until=None)


def ended(waiting: Waiting, now: float) -> Waiting:
    """The connection is gone and is not made again by itself: nothing more comes."""
    return finished(broke(waiting), now)


def is_over(waiting: Waiting, now: float) -> bool:
    """Whether what waited goes now."""
    return waiting.until is not None and now >= waiting.until


def gone(waiting: Waiting, now: float) -> Waiting:
    """What waited is on its way."""
    if waiting.next_until is not None and now < waiting.next_until:
        return Waiting(online=waiting.online, until=waiting.next_until, connected=True)
    return Waiting(online=waiting.online)
