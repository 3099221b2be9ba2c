"""What goes to Telegram: pieces of replies and notices, each with its state on disk.

A piece is waiting, then sending, then sent. One found sending after a crash, or whose send had no answer,
may be in the chat already; it is sent once more, marked.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from onechat_telegram.domain.entities import Entity
from onechat_telegram.domain.ids import ChatId
from onechat_telegram.domain.pieces import TEXT_MAX
from onechat_telegram.domain.utf16 import units
from onechat_telegram.domain.wording import REPEAT_MARK

REPEATS_MAX: Final = 5  # by restarts; then its outcome stays unknown


class PieceState(StrEnum):
    """How far a piece is."""

    WAITING = "waiting"
    SENDING = "sending"  # recorded before it is sent
    SENT = "sent"
    UNKNOWN = "unknown"  # perhaps sent, not repeated any more
    ASIDE = "aside"  # given up


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPlace:
    """A place in the agent's events."""

    stream: str  #: which store's
    number: int  #: the last event that is done with


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A piece on its way."""

    number: int  #: the order in which they are sent
    chat: ChatId
    text: str
    entities: tuple[Entity, ...]
    plain: str  #: sent instead where the formatting is refused
    repeats: int  #: how often it was sent again without knowing whether it had arrived


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One call of sendMessage."""

    text: str
    entities: tuple[Entity, ...]


def messages_of(piece: Outgoing) -> tuple[Message, ...]:
    """What to send for `piece`: one message; two for a repeat that has no room for its mark."""
    if piece.repeats == 0:
        return (Message(text=piece.text, entities=piece.entities),)
    if units(piece.text) + units(REPEAT_MARK) <= TEXT_MAX:
        return (Message(text=piece.text + REPEAT_MARK, entities=piece.entities),)
    mark = Message(text=REPEAT_MARK.strip(), entities=())
    return (mark, Message(text=piece.text, entities=piece.entities))
