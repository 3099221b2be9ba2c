"""What adapters hear: the one form of a message that all platforms share, and what befalls a group.

Texts are valid Unicode; places in them count code points. Instants are aware, UTC.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from onechat_telegram.groups.domain.ids import NO_THREAD, ChatId, MemberId, MessageId, MessageKey, ThreadId

#: Code points of a message that are taken, the rest is left out: no call and no delivery holds just any text.
TEXT_MAX: Final = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """Who we are on the platform."""

    id: MemberId
    handle: str  #: unique there, without "@"; empty where there is none
    name: str  #: as it is shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """Who wrote. An administrator who writes as the group itself has the group's id and title."""

    id: MemberId
    name: str
    is_bot: bool = False  #: another program; it is never answered


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a message is, and an answer to it goes."""

    chat: ChatId
    message: MessageId  #: "" where there is none to reply to
    thread: ThreadId = NO_THREAD


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A message that another one replies to. What a platform writes as a reply by itself is none."""

    author: Member
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A mention that the platform itself marks as one; text that only looks like it is none."""

    handle: str = ""  #: without "@"
    member: MemberId | None = None  #: for one that names somebody by id


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What the message begins with, if the platform marks that as a command."""

    name: str  #: without its slash, such as "bot"
    to: str = ""  #: the handle of the bot that it names; empty for whoever hears it
    rest: str = ""  #: what follows


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message in a group, or in a member's private chat with the bot."""

    key: MessageKey
    place: Place
    private: bool
    title: str  #: the group's, as it is now; of a private chat empty
    sender: Member
    time: datetime
    text: str  #: or an image's caption; may be empty beside images
    images: tuple[
        str, ...
    ] = ()  #: the adapter's own names, and once they are fetched those in the image store
    mentions: tuple[Mention, ...] = ()
    command: Command | None = None  #: never of a forwarded message
    answers: Quote | None = None
    forwarded_from: str | None = None  #: whose words they are, "" where that is hidden; None for own words
    edited: bool = False
    code: tuple[tuple[int, int], ...] = ()  #: [begin, end) of what is set as code, where no name counts
    thread_title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """The bot was put into a group."""

    key: MessageKey
    chat: ChatId
    title: str
    by: Member
    by_owner: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """The bot is no longer in a group."""

    chat: ChatId


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """The platform knows a group by another id from now on; messages that were before have none in it."""

    old: ChatId
    new: ChatId


Heard = Message | Added | Removed | Moved
