"""What the user is told of the link without having asked, in whichever client they read. Pure.

A notice has a key: the same key is told once, however often it is handed over. No phone number of the user
stands in one. Times are the user's own. What is told of silence: silence.py.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Final

from onechat_whatsapp.domain.link import ENDED, SENTENCES, LinkNow, LinkState

LINKED: Final = (
    "WhatsApp is linked. From now on I read the text messages of your chats; /whatsapp status shows the link."
)
GONE: Final = (
    "The WhatsApp session is not here any more, so nothing is linked. /whatsapp pair PHONE links it again; "
    "remove the old device on the phone, under Linked devices."
)
BACK: Final = "WhatsApp is connected again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A line for the user."""

    key: str  #: printable ASCII, up to 200
    text: str


def key_of(kind: str, instant: datetime) -> str:
    """The key of what is told of one event, by when that was."""
    return f"whatsapp:{kind}:{instant.astimezone(UTC):%Y%m%dT%H%M%S.%f}"


def told_time(instant: datetime, zone: tzinfo) -> str:
    """Such as "2026-03-01 14:05"."""
    return f"{instant.astimezone(zone):%Y-%m-%d %H:%M}"


def away(since: datetime, zone: tzinfo) -> Notice:
    """There has been no connection for a while."""
    return Notice(
        key=key_of("away", since),
        text=f"WhatsApp has been disconnected since {told_time(since, zone)}. It is tried again by itself; "
        "what comes meanwhile is read later, if WhatsApp keeps it.",
    )


def back(since: datetime) -> Notice:
    """The connection is there again, for whoever was told that it was not."""
    return Notice(key=key_of("back", since), text=BACK)


def ended(link: LinkNow, zone: tzinfo) -> Notice:
    """WhatsApp has ended it, as the state says."""
    text = SENTENCES[link.state]
    if link.state is LinkState.BANNED and link.ban_end is not None:
        text += f" WhatsApp says that this lasts until {told_time(link.ban_end, zone)}; I try again then."
    return Notice(key=key_of(link.state, link.since), text=text)


def linked(since: datetime) -> Notice:
    """A pairing has worked."""
    return Notice(key=key_of("linked", since), text=LINKED)


def gone(since: datetime) -> Notice:
    """The session was lost while nobody looked."""
    return Notice(key=key_of("gone", since), text=GONE)


def not_paired(sentence: str, began: datetime) -> Notice:
    """A pairing whose code was shown has failed, as `sentence` says."""
    return Notice(key=key_of("not-paired", began), text=sentence)


def told_by(before: LinkNow, after: LinkNow, zone: tzinfo) -> list[Notice]:
    """What the user is told of a change that WhatsApp, the network or time has made."""
    if after.state in ENDED and after.state is not before.state:
        return [ended(after, zone)]
    if after.state is LinkState.CONNECTED and before.away_told and before.away_since is not None:
        return [back(before.away_since)]
    if after.state is LinkState.DISCONNECTED and after.away_since is not None:
        return [away(after.away_since, zone)] if after.away_told and not before.away_told else []
    return []
