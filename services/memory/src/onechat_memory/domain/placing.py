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
    texts: list[str]  #: its pieces, one for each id
    hashed: Hashed

    @property
    def parts(self) -> int:
        """How many messages it is."""
        return len(self.texts)

    @property
    def body_hash(self) -> bytes:
        """Of the whole body."""
        return self.hashed.body_hash


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
    known: dict[str, Known | Placed] = dict(on_disk)
    answers: list[Answer | None] = []
    new: list[Placed] = []
    for append in appends:
        placed: dict[str, Placed] = {}
        appended = _place_one(append, known, placed, length)
        if appended is None:
            answers.append(None)
            continue
        length += sum(one.parts for one in placed.values())
        known |= placed
        new += placed.values()
        answers.append(Answer(appended, length))
    return Placing(answers=tuple(answers), new=tuple(new))


def _place_one(
    append: Sequence[Hashed], known: Mapping[str, Known | Placed], placed: dict[str, Placed], length: int
) -> tuple[Appended, ...] | None:
    """What each message of an append becomes, None where a key has another body; new ones go to `placed`."""
    appended: list[Appended] = []
    for one in append:
        key = one.message.key
        found = known.get(key) or placed.get(key)
        if found is None:
            new = placed[key] = Placed(MessageId(length), pieces(one.message.text), one)
            length += new.parts
            appended.append(Appended(first=new.first, count=new.parts, known=False))
        elif found.body_hash == one.body_hash:
            appended.append(Appended(first=found.first, count=found.parts, known=True))
        else:
            return None
    return tuple(appended)
