"""What goes to Telegram: pieces of replies and notices, each with its state on disk.

A piece is waiting, then sending, then sent. One found sending after a crash, or whose send had no answer,
may be in the chat already: in a private chat it is sent once more, marked, in a group it is not. What only
changes a message can be done again without a trace.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from onechat_telegram.domain.callbacks import Question
from onechat_telegram.domain.entities import Entity
from onechat_telegram.domain.ids import ChatId, MessageId
from onechat_telegram.domain.pieces import CAPTION_MAX, TEXT_MAX, PieceKind
from onechat_telegram.domain.utf16 import units
from onechat_telegram.domain.wording import REPEAT_MARK

REPEATS_MAX: Final = 5  # by restarts; then its outcome stays unknown
PICTURES: Final = frozenset({PieceKind.PHOTO, PieceKind.DOCUMENT})
PHOTO_BYTES_MAX: Final = 10_000_000  # Bot API, sendPhoto; what is larger goes as a file

LOST_PICTURE: Final = "The picture {image} could not be shown: {why}."
_OF_THE_PICTURE: Final = ("photo", "image", "wrong file", "type of file", "too big", "too large")
_TOPIC_GONE: Final = ("thread not found", "topic_deleted", "topic_id_invalid")
_TOPIC_CLOSED: Final = "topic_closed"


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
class Spot:
    """Where in a group, or in a member's private chat, something is said."""

    chat: ChatId
    answers: MessageId | None  #: the message that it replies to
    topic: int | None  #: the thread


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A piece on its way."""

    number: int  #: the order in which they are sent
    chat: ChatId
    text: str
    entities: tuple[Entity, ...]
    plain: str  #: sent instead where the formatting is refused
    repeats: int  #: how often it was sent again without knowing whether it had arrived
    kind: PieceKind = PieceKind.TEXT
    image: str = ""  #: a picture's stored name
    question: Question | None = None  #: of a question and an outcome
    answers: MessageId | None = None  #: the message that it replies to
    topic: int | None = None  #: the thread of its chat

    @property
    def in_group(self) -> bool:
        """Whether its chat is a group: Telegram gives those numbers below zero."""
        return self.chat < 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One call of sendMessage, sendPhoto or sendDocument; or the new text of a message."""

    text: str
    entities: tuple[Entity, ...]
    picture: PieceKind | None = None  #: PHOTO or DOCUMENT; its text is then the caption
    image: str = ""  #: the name of the picture's file
    question: Question | None = None  #: the buttons that it has
    answers: MessageId | None = None
    topic: int | None = None


def messages_of(piece: Outgoing) -> tuple[Message, ...]:
    """What to send for `piece`: one message; two for a repeat that has no room for its mark."""
    message = Message(
        text=piece.text,
        entities=piece.entities,
        picture=piece.kind if piece.kind in PICTURES else None,
        image=piece.image,
        question=piece.question if piece.kind is PieceKind.QUESTION else None,
        answers=piece.answers,
        topic=piece.topic,
    )
    if piece.repeats == 0:
        return (message,)
    room = CAPTION_MAX if message.picture else TEXT_MAX
    if units(piece.text) + units(REPEAT_MARK) <= room:
        marked = piece.text + REPEAT_MARK
        return (replace(message, text=marked if piece.text else REPEAT_MARK.strip()),)
    mark = Message(text=REPEAT_MARK.strip(), entities=(), answers=piece.answers, topic=piece.topic)
    return (mark, message)


def after_refusal(piece: Outgoing, why: str) -> Outgoing | None:
    """What to try instead of `piece`, which Telegram has refused as `why` says; None when nothing is left.

    Each step takes something away, so that they end: the topic, the photo, the formatting, the picture.
    """
    sign = why.lower()
    if piece.topic is not None and any(word in sign for word in _TOPIC_GONE):
        return replace(piece, topic=None)
    if _TOPIC_CLOSED in sign and (piece.topic, piece.answers) != (None, None):
        return replace(piece, topic=None, answers=None)  # an answer goes where its message is
    formatted = bool(piece.entities) or piece.text != piece.plain
    photo = piece.kind is PieceKind.PHOTO
    if photo and (not formatted or any(word in sign for word in _OF_THE_PICTURE)):
        return replace(piece, kind=PieceKind.DOCUMENT)
    if formatted:
        return replace(piece, text=piece.plain, entities=())
    if piece.kind is PieceKind.DOCUMENT:
        return without_picture(piece, "Telegram refuses it")
    return None


def without_picture(piece: Outgoing, why: str) -> Outgoing:
    """A line instead of a picture that cannot be sent, with its caption."""
    said = LOST_PICTURE.format(image=piece.image, why=why)
    text = f"{piece.plain}\n{said}" if piece.plain else said
    return replace(piece, kind=PieceKind.TEXT, image="", text=text, plain=text, entities=())
