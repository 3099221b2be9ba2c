"""What is sent for a piece, for a repeat of it, and after a refusal."""

from dataclasses import replace

import pytest
from onechat_telegram.domain.entities import Entity, Rendered
from onechat_telegram.domain.ids import ChatId, MessageId
from onechat_telegram.domain.outgoing import Outgoing, after_refusal, messages_of
from onechat_telegram.domain.pieces import CAPTION_MAX, PieceKind, picture_pieces_of
from onechat_telegram.domain.utf16 import units
from onechat_telegram.domain.wording import REPEAT_MARK

BOLD = (Entity(type="bold", offset=0, length=3),)
PHOTO = Outgoing(
    number=1,
    chat=ChatId(5),
    text="the boiler",
    entities=BOLD,
    plain="**the** boiler",
    repeats=0,
    kind=PieceKind.PHOTO,
    image="0123456789abcdef.png",
)


def as_written(source: str) -> Rendered:
    return Rendered(text=source, entities=())


def refusals(piece: Outgoing, why: str) -> list[Outgoing]:
    """What is tried one after the other while Telegram says `why` each time."""
    tried: list[Outgoing] = []
    now: Outgoing | None = piece
    while (now := after_refusal(now, why)) is not None:
        tried.append(now)
    return tried


def test_a_photo_that_telegram_takes_for_none_goes_as_a_file() -> None:
    [first, *_] = refusals(PHOTO, "Bad Request: PHOTO_INVALID_DIMENSIONS")

    assert first == replace(PHOTO, kind=PieceKind.DOCUMENT)


def test_a_photo_whose_formatting_is_refused_stays_a_photo() -> None:
    [first, *_] = refusals(PHOTO, "Bad Request: can't parse entities")

    assert first == replace(PHOTO, text=PHOTO.plain, entities=())


@pytest.mark.parametrize("why", ["Bad Request: IMAGE_PROCESS_FAILED", "Bad Request: no", ""])
def test_whatever_is_refused_ends_as_a_line_that_says_so_with_the_caption(why: str) -> None:
    *_, last = refusals(PHOTO, why)

    assert (last.kind, last.image, last.entities) == (PieceKind.TEXT, "", ())
    assert last.text.startswith("**the** boiler\n")
    assert "0123456789abcdef.png could not be shown" in last.text


@pytest.mark.parametrize("why", ["Bad Request: message thread not found", "Bad Request: TOPIC_DELETED"])
def test_an_answer_whose_topic_is_gone_goes_without_it(why: str) -> None:
    piece = replace(PHOTO, kind=PieceKind.TEXT, image="", topic=44, answers=MessageId(3))

    [first, *_] = refusals(piece, why)

    assert first == replace(piece, topic=None)


@pytest.mark.parametrize("topic", [44, None])
def test_an_answer_into_a_closed_topic_is_said_outside_it(topic: int | None) -> None:
    """It would go where the message is that it answers: so it answers none."""
    piece = replace(PHOTO, kind=PieceKind.TEXT, image="", topic=topic, answers=MessageId(3))

    [first, *_] = refusals(piece, "Bad Request: TOPIC_CLOSED")

    assert first == replace(piece, topic=None, answers=None)


def test_a_repeat_of_a_picture_is_marked_in_its_caption() -> None:
    [message] = messages_of(replace(PHOTO, repeats=1))

    assert message.text == "the boiler" + REPEAT_MARK
    assert (message.picture, message.image) == (PieceKind.PHOTO, PHOTO.image)


def test_a_repeat_of_a_picture_without_a_caption_is_marked_too() -> None:
    [message] = messages_of(replace(PHOTO, text="", plain="", entities=(), repeats=1))

    assert message.text == REPEAT_MARK.strip()


def test_a_repeat_of_a_full_caption_has_its_mark_in_a_message_before_it() -> None:
    mark, message = messages_of(replace(PHOTO, text="x" * CAPTION_MAX, entities=(), repeats=1))

    assert (mark.text, mark.picture) == (REPEAT_MARK.strip(), None)
    assert units(message.text) == CAPTION_MAX


def test_a_caption_of_up_to_1024_units_stands_with_its_picture() -> None:
    [piece] = picture_pieces_of("0123456789abcdef.jpg", "😀" * 512, as_written)

    assert (piece.kind, piece.text) == (PieceKind.PHOTO, "😀" * 512)


@pytest.mark.parametrize("caption", ["😀" * 513, "a " * 2_000, "x" * 4_000])
def test_a_longer_caption_follows_its_picture_whole(caption: str) -> None:
    picture, *said = picture_pieces_of("0123456789abcdef.jpg", caption, as_written)

    assert (picture.kind, picture.text, picture.plain) == (PieceKind.PHOTO, "", "")
    assert "".join(piece.text for piece in said).split() == caption.split()


def test_a_moving_picture_goes_as_a_file_since_a_photo_of_it_would_stand_still() -> None:
    [piece] = picture_pieces_of("0123456789abcdef.gif", "", as_written)

    assert piece.kind is PieceKind.DOCUMENT
