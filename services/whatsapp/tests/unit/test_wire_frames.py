"""Frames over a pipe: cut anywhere, ended anywhere, and not taken for more than they are."""

import asyncio

import pytest
from onechat_whatsapp.wire.frames import FRAME_MAX, FrameBroken, Kind, frame, read_frame


def fed(*pieces: bytes, end: bool = True) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    for piece in pieces:
        reader.feed_data(piece)
    if end:
        reader.feed_eof()
    return reader


async def test_frames_come_out_in_order_however_they_were_cut():
    wire = frame(Kind.EVENT, b"one") + frame(Kind.ANSWER, b"") + frame(Kind.CALL, bytes(70_000))
    reader = fed(*(wire[at : at + 7] for at in range(0, len(wire), 7)))

    read = [await read_frame(reader) for _ in range(4)]

    assert read == [(Kind.EVENT, b"one"), (Kind.ANSWER, b""), (Kind.CALL, bytes(70_000)), None]


@pytest.mark.parametrize("left", range(1, 8))
async def test_an_end_in_the_middle_of_a_frame_is_an_end(left):
    """The other side was killed while it wrote."""
    assert await read_frame(fed(frame(Kind.EVENT, b"one")[:left])) is None


@pytest.mark.parametrize(
    "wire",
    [b"\x00\x00\x00\x00", (FRAME_MAX + 1).to_bytes(4, "big"), b"\x00\x00\x00\x02\x09a"],
    ids=["without a kind", "too long", "of no kind"],
)
async def test_what_is_no_frame_is_refused_before_it_is_read(wire):
    with pytest.raises(FrameBroken):
        await read_frame(fed(wire, end=False))


def test_a_frame_that_nobody_would_read_is_not_made():
    with pytest.raises(FrameBroken):
        frame(Kind.CALL, bytes(FRAME_MAX))
