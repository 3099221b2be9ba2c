"""When it is odd that nothing comes from WhatsApp, and what the user is told of what may be missing. Pure.

A gap is connected time, in seconds, in which nothing came from any chat: an outage is told otherwise.
Instants are aware, UTC. What is kept of it: adapters/silence_rows.py. Who looks: silence.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Final

from onechat_whatsapp.domain.link import LinkNow, LinkState
from onechat_whatsapp.domain.notices import Notice, key_of, told_time

LINKED_FOR: Final = timedelta(days=7)  #: before that nothing is known of how often somebody writes
GAPS_OF: Final = timedelta(days=14)
SHORTEST_S: Final = 6 * 3600.0
TIMES_THE_LONGEST: Final = 2.0
COMES_AGAIN_WITHIN: Final = timedelta(minutes=10)  #: what could not be decrypted is asked for again
TOLD_APART: Final = timedelta(days=1)
CHATS_NAMED: Final = 10
NAME_MAX: Final = 60  # characters; the agent service shows 2,000 in all


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet:
    """How long nothing has come, as kept."""

    last: datetime | None = None  #: when something last came; None: never since the link
    connected_s: float = 0.0  #: of the time since then, or since the link
    told: bool = False  #: the user was told of this gap


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Messages of one chat that could not be decrypted."""

    chat: str
    count: int  #: at least one
    first: datetime
    last: datetime


def odd_after(longest_s: float | None) -> float | None:
    """After how many connected seconds a gap is odd; None while no gap is known to compare it with."""
    return None if longest_s is None else max(SHORTEST_S, TIMES_THE_LONGEST * longest_s)


def is_odd(quiet: Quiet, longest_s: float | None, linked_since: datetime | None, now: datetime) -> bool:
    """Whether the user should look. `longest_s` is the longest gap of the last 14 days that has ended."""
    after = odd_after(longest_s)
    if after is None or linked_since is None or lately(linked_since, now, LINKED_FOR):
        return False
    return quiet.connected_s >= after


def lately(then: datetime, now: datetime, within: timedelta) -> bool:
    """Whether `then` is less than `within` ago; not where it is still to come, for the clock was set back."""
    return timedelta() <= now - then < within


def noticed_before(link: LinkNow, now: datetime) -> datetime:
    """Up to when a message must have been noticed to count as missing for good.

    WhatsApp is asked for it once more, which needs a connection that stands; one that never stands for so
    long holds nothing up for more than a day.
    """
    steady = link.state is LinkState.CONNECTED and not lately(link.since, now, COMES_AGAIN_WITHIN)
    return now - (COMES_AGAIN_WITHIN if steady else TOLD_APART)


def silent(last: datetime, zone: tzinfo) -> str:
    """What status and the notice say of a gap that is odd, since `last`."""
    return (
        f"Nothing has come from WhatsApp since {told_time(last, zone)}, though it is connected, and you are "
        "rarely without messages for so long. Messages of any chat since then may be missing. Look at the "
        "phone: if there are newer ones, run /whatsapp unlink and then /whatsapp pair PHONE."
    )


def silence_notice(last: datetime, zone: tzinfo) -> Notice:
    """The notice of one gap."""
    return Notice(key=key_of("silence", last), text=silent(last, zone))


def missing_notice(missing: Sequence[tuple[str, Missing]], now: datetime, zone: tzinfo) -> Notice:
    """The notice of messages that could not be decrypted: each with its chat's name, the most first."""
    ordered = sorted(missing, key=lambda each: (-each[1].count, each[1].first))
    lines = [
        f"{_short(name)}: {_counted(each.count)}, {_times(each, zone)}"
        for name, each in ordered[:CHATS_NAMED]
    ]
    if left := sum(each.count for _, each in ordered[CHATS_NAMED:]):
        lines.append(f"other chats: {_counted(left)}")
    head = "WhatsApp messages came that could not be decrypted, so I have not read them; look at the phone:"
    return Notice(key=key_of("undecryptable", now), text="\n".join([head, *lines]))


def undecrypted(count: int) -> str:
    """What status says of them; "" for none."""
    if not count:
        return ""
    return f"{_counted(count)} could not be decrypted here and may be missing: look at the phone."


def _short(name: str) -> str:
    line = " ".join(name.split())
    return line if len(line) <= NAME_MAX else line[: NAME_MAX - 1] + "…"


def _counted(count: int) -> str:
    return "1 message" if count == 1 else f"{count} messages"


def _times(missing: Missing, zone: tzinfo) -> str:
    first, last = told_time(missing.first, zone), told_time(missing.last, zone)
    if first == last:
        return first
    day, _, minute = last.partition(" ")
    return f"{first} to {minute if first.startswith(day) else last}"
