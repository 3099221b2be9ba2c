"""A reply as the messages that Telegram takes: pieces of at most 4,096 UTF-16 units and 100 entities.

A picture is a piece too, with a text of at most 1,024 units as its caption.

A piece is a part of the Markdown source and what it looks like; the source itself is what is sent where
Telegram refuses the formatting. How a part is rendered is given from outside (adapters/markdown.py).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from onechat_telegram.domain.entities import ENTITIES_MAX, Entity, Rendered
from onechat_telegram.domain.splitting import split
from onechat_telegram.domain.utf16 import between_letters, blank, fitting, units

TEXT_MAX = 4096  # units after entity parsing; Bot API, sendMessage
CAPTION_MAX = 1024  # units after entity parsing; Bot API, sendPhoto
_FILES = (".gif",)  # a photo of one would stand still
_PART_MIN = 64  # units; a part this small that still does not fit goes as it was written

Render = Callable[[str], Rendered | None]  #: Markdown in, its looks out; None where it can't be rendered


class PieceKind(StrEnum):
    """What kind of message it is."""

    TEXT = "text"
    PHOTO = "photo"  # its text is the caption
    DOCUMENT = "document"  # a picture as a file, where Telegram takes no photo
    QUESTION = "question"  # a proposal, with its buttons
    OUTCOME = "outcome"  # what a question's message becomes; a message of its own where that is not there


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One message of a reply."""

    text: str  #: what is shown, at most 4,096 units; of a picture at most 1,024, perhaps none
    entities: tuple[Entity, ...]  #: its formatting, at most 100
    plain: str  #: the Markdown it came from, at most 4,096 units; sent where the formatting is refused
    kind: PieceKind = PieceKind.TEXT
    image: str = ""  #: a picture's stored name
    stream: str = ""  #: of a question and an outcome: the agent's, which `proposal` is a number of
    proposal: int = 0


def pieces_of(source: str, render: Render, room: int = TEXT_MAX) -> tuple[Piece, ...]:
    """The pieces of `source` in order; none for a text in which nothing can be seen. Ends for any text.

    `room` is what a piece may hold, less than 4,096 where something will be added to it.
    """
    return tuple(_fitting(source, render, room, room))


def picture_pieces_of(image: str, caption: str, render: Render) -> tuple[Piece, ...]:
    """The picture of that stored name with its caption; one that is too long follows as a reply does."""
    kind = PieceKind.DOCUMENT if image.endswith(_FILES) else PieceKind.PHOTO
    said = pieces_of(caption, render, CAPTION_MAX)
    if len(said) == 1 and units(said[0].plain) <= CAPTION_MAX:
        return (replace(said[0], kind=kind, image=image),)
    bare = Piece(text="", entities=(), plain="", kind=kind, image=image)
    return (bare, *pieces_of(caption, render))


def plain_pieces_of(text: str, room: int = TEXT_MAX) -> tuple[Piece, ...]:
    """The pieces of a text that is shown as it is, cut at the ends of lines, else between letters."""
    pieces: list[Piece] = []
    rest = text
    while rest:
        at = len(rest) if units(rest) <= room else fitting(rest, room)
        if at < len(rest):
            at = rest.rfind("\n", 0, at) + 1 or between_letters(rest, at)
        part, rest = rest[:at], rest[at:]
        if not blank(part):
            pieces.append(Piece(text=part.rstrip("\n"), entities=(), plain=part.rstrip("\n")))
    return tuple(pieces)


def _fitting(source: str, render: Render, limit: int, room: int) -> Iterator[Piece]:
    for part in split(source, limit):
        if blank(part):
            continue
        shown = render(part)
        smaller = _smaller(min(limit, units(part)), len(shown.entities) if shown else 0)
        if shown is None or blank(shown.text):
            yield Piece(text=part, entities=(), plain=part)
        elif units(shown.text) <= room and len(shown.entities) <= ENTITIES_MAX:
            yield Piece(text=shown.text, entities=shown.entities, plain=part)
        elif smaller >= _PART_MIN:
            yield from _fitting(part, render, smaller, room)
        else:
            yield Piece(text=part, entities=(), plain=part)


def _smaller(size: int, entities: int) -> int:
    """The next size to try for a part of `size` units that came out with too much, of at least an eighth.

    It goes by how many entities too many there are: else a text of nothing but headings would be rendered ten
    times over.
    """
    return min(size * 3 // 4, max(size // 8, size * ENTITIES_MAX // max(entities, 1)))
