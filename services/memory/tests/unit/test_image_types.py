"""Which images are taken, by their first bytes alone, and what a stored name may look like."""

import gzip
import struct

import pytest
from onechat_memory.domain.image_types import HEAD, ImageType, name_from, name_of, sniffed

from tests.fakes.pictures import GIF, JPEG, PNG, WEBP

OF_EACH_TYPE = [
    (PNG, ImageType.PNG),
    (JPEG, ImageType.JPEG),
    (WEBP, ImageType.WEBP),
    (GIF, ImageType.GIF),
]


@pytest.mark.parametrize(("content", "kind"), OF_EACH_TYPE)
def test_each_type_is_told_by_its_head_alone(content, kind):
    assert sniffed(content[:HEAD]) is kind
    assert sniffed(content) is kind


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (GIF.replace(b"89a", b"87a", 1), ImageType.GIF),
        (b"\xff\xd8\xff\xe1\x00\x18Exif\x00\x00MM", ImageType.JPEG),
        (b"\xff\xd8\xff\xdb\x00\x43\x00", ImageType.JPEG),
        (b"\xff\xd8\xff\xee\x00\x0eAdobe", ImageType.JPEG),
        (b"RIFF\x1a\x00\x00\x00WEBPVP8 \x0e\x00\x00\x00", ImageType.WEBP),
        (b"RIFF\x1a\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00", ImageType.WEBP),
    ],
)
def test_the_variants_of_a_type_are_taken(head, kind):
    assert sniffed(head) is kind


@pytest.mark.parametrize(("content", "needed"), [(PNG, 24), (JPEG, 5), (WEBP, 20), (GIF, 13)])
def test_a_head_that_is_cut_short_is_of_no_type(content, needed):
    assert sniffed(content[:needed])
    assert {sniffed(content[:length]) for length in range(needed)} == {None}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 64,
        b"BM\x46\x00\x00\x00" + bytes(58),
        b"II*\x00" + bytes(60),
        b"\x00\x00\x00\x20ftypheic" + bytes(52),
        b"\x00\x00\x00\x20ftypavif" + bytes(52),
        b"%PDF-1.7\n" + JPEG,
        b"PK\x03\x04" + PNG,
        gzip.compress(PNG, mtime=0),
        b'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>',
        b"<html><body>GIF89a\x01\x00\x01\x00</body></html>",
        b" " + GIF,
        b"\xef\xbb\xbf" + PNG,
        b"GIF90a" + GIF[6:],
        b"gif89a" + GIF[6:],
        b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(40),
        b"RIFF\x24\x00\x00\x00AVI LIST" + bytes(40),
        b"RIFX" + WEBP[4:],
        b"RIFF\x24\x00\x00\x00WEBPjunk" + bytes(40),
        b"\xff\xd8\xff\x00" + bytes(60),
        b"\xff\xd8\xff\xd9" + bytes(60),
        b"\xff\xd8\xe0\x00" + bytes(60),
        PNG.replace(b"\r\n", b"\n", 1),
        PNG.replace(b"IHDR", b"IDAT", 1),
        PNG[:16] + struct.pack(">II", 0, 1) + PNG[24:],
        PNG[:16] + struct.pack(">II", 1, 0) + PNG[24:],
        b"\x8aMNG" + PNG[4:],
    ],
)
def test_what_is_something_else_is_of_no_type(content):
    """What a sender says that it is counts nothing, and neither does a signature further in."""
    assert sniffed(content[:HEAD]) is None


def test_a_name_is_sixteen_digits_of_the_checksum_and_the_ending():
    name = name_of(bytes(range(0xA0, 0xC0)), ImageType.JPEG)

    assert name == "a0a1a2a3a4a5a6a7.jpg"
    assert name_from(name) == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".png",
        "../x",
        "../0123456789abcdef.png",
        "/0123456789abcdef.png",
        "0123456789abcdef.png/",
        "0123456789abcdef.png\n",
        "0123456789abcdef.png\x00",
        "0123456789ABCDEF.png",
        "0123456789abcdef.PNG",
        "0123456789abcdef.jpeg",
        "0123456789abcdef.svg",
        "0123456789abcdef",
        "0123456789abcde.png",
        "00123456789abcdef.png",
        "٠١٢٣٤٥٦٧٨٩abcdef.png",
        "incoming-x.part",
    ],
)
def test_what_no_image_is_called_is_no_name(text):
    assert name_from(text) is None
