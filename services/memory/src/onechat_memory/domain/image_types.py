"""Which images are taken, told by their first bytes, and the names under which they are kept. Pure.

A name or a type that a sender claims counts nothing. Sizes are bytes. Where the files lie:
adapters/image_store.py; how they come and go: images.py.
"""

import re
from enum import StrEnum
from typing import Final, NewType

SIZE_MAX: Final = 20_000_000
HEAD: Final = 24  #: bytes that tell every type

ImageName = NewType("ImageName", str)  #: 16 hex digits of the content's SHA-256 and the type's ending

_NAME: Final = re.compile(r"[0-9a-f]{16}\.(?:png|jpg|webp|gif)", re.ASCII)
# PNG 5.2 and 11.2.2: the signature, then a chunk IHDR of 13 bytes that begins with width and height.
_PNG: Final = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"
_GIF: Final = (b"GIF87a", b"GIF89a")
_GIF_SCREEN: Final = 13  # the signature and the logical screen descriptor
# What may follow a JPEG's start of image: tables, frames, application data, comments, a fill byte.
_JPEG_MARKERS: Final = frozenset({*range(0xC0, 0xD0), *range(0xDA, 0xF0), 0xFE, 0xFF})
_WEBP: Final = (b"VP8 ", b"VP8L", b"VP8X")


class ImageType(StrEnum):
    """A type that is taken; its value is the ending of the stored name."""

    PNG = ".png"
    JPEG = ".jpg"
    WEBP = ".webp"
    GIF = ".gif"


def sniffed(head: bytes) -> ImageType | None:
    """The type of the content that begins with `head`: its first HEAD bytes, or all where it has fewer.

    None for whatever else it is, a head that is cut short among them.
    """
    if head.startswith(_PNG) and len(head) >= HEAD and any(head[16:20]) and any(head[20:24]):
        return ImageType.PNG
    if head.startswith(b"\xff\xd8\xff") and len(head) > 4 and head[3] in _JPEG_MARKERS:
        return ImageType.JPEG
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP" and head[12:16] in _WEBP and len(head) >= 20:
        return ImageType.WEBP
    if head.startswith(_GIF) and len(head) >= _GIF_SCREEN:
        return ImageType.GIF
    return None


def name_of(sha256: bytes, kind: ImageType) -> ImageName:
    """The name of content with this SHA-256."""
    return ImageName(sha256[:8].hex() + kind.value)


def name_from(text: str) -> ImageName | None:
    """`text` as a stored name; None where it cannot be one, such as a path."""
    return ImageName(text) if _NAME.fullmatch(text) else None
