"""Which messages of some appends are new, and where they go; known ones answer where they went. Pure.

Several appends to one log are placed together, in order, as if each had come by itself: one that is refused
leaves nothing behind for those after it. What is on disk under a key comes from adapters/log_store.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from onechat_memory.domain.messages import Appended, NewMessage, body_hash
from onechat_memory.domain.pieces import pieces
from onechat_memory.domain.tree import MessageId


@dataclass(frozen=True, slots=True)
class Hashed:
    """A message on its way into a log, and the hash of its body."""

    message: NewMessage
    body_hash: bytes


@dataclass(frozen=True, slots=True)
class Known:
    """What a key stands for."""

    first: MessageId
    parts: int
    body_hash: bytes


@dataclass(frozen=True, slots=True)
class Placed:
    """A new message, and where it goes."""

    first: MessageId  #: of its first piece
    texts: tuple[str, ...]  #: its pieces, one for each id
    hashed: Hashed


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one append."""

    appended: tuple[Appended, ...]  #: one for each of its messages
    length: int  #: of the log, after it


@dataclass(frozen=True, slots=True, kw_only=True)
class Placing:
    """What becomes of some appends."""

    answers: tuple[Answer | None, ...]  #: one for each append; None: a key has another body
    new: tuple[Placed, ...]  #: in order, without a gap


def hashed(messages: Sequence[NewMessage]) -> tuple[Hashed, ...]:
    """`messages` with their hashes."""
    return tuple(Hashed(message, body_hash(message)) for message in messages)


def place(appends: Sequence[Sequence[Hashed]], on_disk: Mapping[str, Known], length: int) -> Placing:
    """Place `appends` at the end of a log of `length` messages; `on_disk` tells of every key in it."""
    known = dict(on_disk)
    answers: list[Answer | None] = []
    new: list[Placed] = []
    for append in appends:
        appended, placed = _place_one(append, known, length)
        if appended is None:
            answers.append(None)
            continue
        for one in placed:
            length += len(one.texts)
            known[one.hashed.message.key] = Known(one.first, len(one.texts), one.hashed.body_hash)
        new += placed
        answers.append(Answer(appended, length))
    return Placing(answers=tuple(answers), new=tuple(new))


def _place_one(
    append: Sequence[Hashed], known: Mapping[str, Known], length: int
) -> tuple[tuple[Appended, ...] | None, list[Placed]]:
    """What each message of one append became, None when a key has another body, and which are new."""
    own: dict[str, Known] = {}
    placed: list[Placed] = []
    appended: list[Appended] = []
    for one in append:
        key = one.message.key
        found = own.get(key) or known.get(key)
        if found is None:
            texts = tuple(pieces(one.message.text))
            found = own[key] = Known(MessageId(length), len(texts), one.body_hash)
            placed.append(Placed(found.first, texts, one))
            length += len(texts)
            appended.append(Appended(first=found.first, count=found.parts, known=False))
        elif found.body_hash == one.body_hash:
            appended.append(Appended(first=found.first, count=found.parts, known=True))
        else:
            return None, []
    return tuple(appended), placed
