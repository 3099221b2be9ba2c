"""Bytes that are no text: telling them apart, and saying what they probably are."""

from typing import Final

_BEGINNINGS: Final = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x7fELF", "an ELF program"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
    (b"\xff\xfe", "text in UTF-16"),
    (b"\xfe\xff", "text in UTF-16"),
)
_TEXT_CONTROLS: Final = frozenset("\t\n\r\f\b\x1b\a\v")
_ODD_SHARE: Final = 10  # one odd character in so many makes bytes binary


def kind_of(content: bytes) -> str:
    """What `content` probably is, by its first bytes, for a sentence."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "a WebP image"
    if content[4:8] == b"ftyp":
        return "MPEG-4 media"
    return next((kind for beginning, kind in _BEGINNINGS if content.startswith(beginning)), "binary data")


def is_binary(content: bytes) -> bool:
    """Whether `content` is better not shown: a tenth of its characters are not valid or control something.

    A stray byte in a log, or the NULs of `find -print0`, leave a text a text.
    """
    text = content.decode(errors="replace")
    odd = sum(c == "\ufffd" or (c < " " and c not in _TEXT_CONTROLS) for c in text)
    return odd * _ODD_SHARE > len(text)
