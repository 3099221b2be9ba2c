"""Frames of the pipe between the gateway and the process that holds the session.

A frame: four bytes of length, big-endian, that count what follows; one byte of kind; the body. What a body
holds: codec.py.
"""

import asyncio
import struct
from enum import IntEnum
from typing import Final

FRAME_MAX: Final = 32 * 1024 * 1024  # bytes of kind and body; an image of 16 MiB fits
_LENGTH: Final = struct.Struct(">I")


class Kind(IntEnum):
    """What a frame's body is."""

    CALL = 1  #: from the gateway
    ANSWER = 2  #: to it
    EVENT = 3  #: to it


class FrameBroken(Exception):
    """What came over the pipe is no frame: whoever wrote it speaks something else."""


def frame(kind: Kind, body: bytes) -> bytes:
    """`body` as it goes over the pipe. Raises FrameBroken when it is too long."""
    length = 1 + len(body)
    if length > FRAME_MAX:
        raise FrameBroken(f"a frame of {length} bytes is too long")
    return _LENGTH.pack(length) + bytes([kind]) + body


async def read_frame(reader: asyncio.StreamReader) -> tuple[Kind, bytes] | None:
    """The next frame; None at the end, also where the end is in the middle of one. Raises FrameBroken."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        if not 1 <= length <= FRAME_MAX:
            raise FrameBroken(f"a frame of {length} bytes")
        content = await reader.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    try:
        return Kind(content[0]), content[1:]
    except ValueError as error:
        raise FrameBroken(f"a frame of kind {content[0]}") from error
