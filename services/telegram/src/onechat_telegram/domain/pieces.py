"""A reply as the messages that Telegram takes: pieces of at most 4,096 UTF-16 units and 100 entities.

A picture is a piece too, with a text of at most 1,024 units as its caption.

A reply is rendered whole, and what came out is cut (splitting.py). Where Telegram refuses the formatting, a
reply of one piece goes as its Markdown source; one of several goes piece by piece without it, the addresses
of links after their words. How Markdown is rendered is given from outside (adapters/markdown.py).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from onechat_telegram.domain.entities import Entity, Rendered
from onechat_telegram.domain.splitting import split
from onechat_telegram.domain.utf16 import between_letters, blank, fitting, units

TEXT_MAX = 4096  # units after entity parsing; Bot API, sendMessage
CAPTION_MAX = 1024  # units after entity parsing; Bot API, sendPhoto
_FILES = (".gif",)  # a photo of one would stand still

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
    plain: str  #: without formatting, at most 4,096 units; sent where the formatting is refused
    kind: PieceKind = PieceKind.TEXT
    image: str = ""  #: a picture's stored name
    stream: str = ""  #: of a question and an outcome: the agent's, which `proposal` is a number of
    proposal: int = 0


def pieces_of(source: str, render: Render, room: int = TEXT_MAX) -> tuple[Piece, ...]:
    """The pieces of `source` in order; none for a text in which nothing can be seen. Ends for any text.

    `room` is what a piece may hold, less than 4,096 where something will be added to it.
    """
    if blank(source):
        return ()
    shown = render(source)
    if shown is None or blank(shown.text):
        return plain_pieces_of(source, room)
    parts = list(split(shown, room))
    if len(parts) == 1 and units(source) <= room:
        return (Piece(text=parts[0].text, entities=parts[0].entities, plain=source),)
    return tuple(
        Piece(text=part.text, entities=part.entities, plain=_unformatted(part, room)) for part in parts
    )


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


def _unformatted(part: Rendered, room: int) -> str:
    """The text of `part` with its links' addresses, as far as there is room for them."""
    encoded = part.text.encode("utf-16-le")
    for link in reversed(part.entities):
        if link.type == "text_link" and link.url not in part.text:
            encoded = encoded[: link.end * 2] + f" ({link.url})".encode("utf-16-le") + encoded[link.end * 2 :]
    text = encoded.decode("utf-16-le")
    return text if units(text) <= room else part.text
