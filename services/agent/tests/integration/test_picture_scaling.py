"""Pictures as a model gets them, made by the process that does it. Sizes are pixels."""

import struct
import subprocess
import sys
import zlib

import pytest
from onechat_agent.adapters import picture_process
from onechat_agent.adapters.picture_scaling import PictureScaling, PictureUnfit
from PIL import Image

from tests.fakes.pictures import GIF, JPEG, PNG, WEBP, drawn, encoded, opened

UPRIGHT_IS_LEFT = 6  # EXIF: what is drawn is to be turned by 90 degrees


async def scaled(content: bytes) -> tuple[str, Image.Image]:
    made = await PictureScaling().scaled(content)
    return made.media_type, opened(made.content)


@pytest.mark.parametrize("content", [PNG, JPEG, WEBP, GIF])
async def test_each_type_that_is_stored_can_be_shown(content: bytes) -> None:
    kind, image = await scaled(content)

    assert kind in ("image/png", "image/jpeg")
    assert image.size == (1, 1)


@pytest.mark.parametrize(
    ("size", "becomes"), [((4096, 1024), (2048, 512)), ((100, 5000), (41, 2048)), ((2048, 2), (2048, 2))]
)
async def test_the_longer_side_has_at_most_2048_pixels(
    size: tuple[int, int], becomes: tuple[int, int]
) -> None:
    _, image = await scaled(drawn(*size, "JPEG"))

    assert image.size == becomes


async def test_a_photograph_stands_upright_and_says_nothing_of_its_place() -> None:
    exif = Image.Exif()
    exif[0x0112] = UPRIGHT_IS_LEFT
    exif.get_ifd(0x8825)[1] = "N"  # GPS

    made = await PictureScaling().scaled(drawn(60, 40, "JPEG", exif=exif.tobytes(), comment=b"mine"))

    image = opened(made.content)
    assert image.size == (40, 60)
    assert dict(image.getexif()) == {}
    assert b"mine" not in made.content


async def test_of_a_moving_picture_the_first_frame_is_shown() -> None:
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]

    for form in ("GIF", "WEBP"):
        content = encoded(frames[0], form, save_all=True, append_images=frames[1:])
        _, image = await scaled(content)
        assert image.convert("RGB").getpixel((4, 4))[0] > 200, form


async def test_what_is_transparent_is_white() -> None:
    _, image = await scaled(encoded(Image.new("RGBA", (4, 4), (0, 0, 0, 0)), "PNG"))

    assert image.getpixel((0, 0)) == (255, 255, 255)


async def test_sixteen_bits_of_grey_keep_their_greys() -> None:
    _, image = await scaled(encoded(Image.new("I;16", (4, 4), 128 * 256), "PNG"))

    assert image.getpixel((0, 0)) == 128


@pytest.mark.parametrize("mode", ["1", "CMYK", "LA", "P"])
async def test_pictures_of_any_colours_can_be_shown(mode: str) -> None:
    form = "JPEG" if mode == "CMYK" else "PNG"

    _, image = await scaled(encoded(Image.new(mode, (30, 20)), form))

    assert image.size == (30, 20)


async def test_the_same_picture_gives_the_same_bytes() -> None:
    """A turn that goes on after a restart must send what it sent before."""
    content = encoded(Image.effect_noise((300, 200), 60), "PNG")

    first, again = [await PictureScaling().scaled(content) for _ in range(2)]

    assert first == again


async def test_a_large_drawing_without_loss_becomes_a_photograph() -> None:
    noise = encoded(Image.effect_noise((1400, 1400), 90), "PNG")

    made = await PictureScaling().scaled(noise)

    assert made.media_type == "image/jpeg"
    assert len(made.content) < len(noise)


def png_of(width: int, height: int) -> bytes:
    """A PNG that says so and holds as much: zeros, which take no room until they are decoded."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    packer = zlib.compressobj(1)
    rows = b"".join(packer.compress(bytes(width + 1)) for _ in range(height)) + packer.flush()
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


async def test_a_picture_that_would_fill_the_memory_is_told_and_not_decoded() -> None:
    bomb = png_of(8_000, 8_000)
    assert len(bomb) < 1_000_000

    with pytest.raises(PictureUnfit, match="too many pixels"):
        await PictureScaling().scaled(bomb)


async def test_a_photograph_of_108_megapixels_is_shown_all_the_same() -> None:
    """Telephones make them; a JPEG is decoded at a fraction of its size."""
    _, image = await scaled(encoded(Image.new("L", (12_000, 9_000)), "JPEG", quality=10))

    assert image.size == (2048, 1536)


async def test_a_photograph_that_was_cut_off_is_shown_as_far_as_it_goes() -> None:
    whole = encoded(Image.effect_noise((400, 400), 60), "JPEG")

    _, image = await scaled(whole[: len(whole) // 2])

    assert image.size == (400, 400)


@pytest.mark.parametrize(
    "content",
    [b"", b"nothing", PNG[:30], drawn(500, 500)[:-40], drawn(64, 64, "JPEG")[:300], b"II*\0" + bytes(60)],
)
async def test_what_cannot_be_decoded_is_told(content: bytes) -> None:
    with pytest.raises(PictureUnfit, match="cannot be decoded"):
        await PictureScaling().scaled(content)


async def test_one_that_takes_too_long_is_given_up_and_leaves_no_process() -> None:
    scaling = PictureScaling(longest_s=0.001)

    with pytest.raises(PictureUnfit, match="too long"):
        await scaling.scaled(drawn(3000, 3000, "JPEG"))


def test_the_process_gives_up_its_files_before_it_reads_a_picture() -> None:
    """Whoever takes over a decoder finds no file, no environment, and little memory and time."""
    probe = (
        "import os, resource, sys\n"
        "from onechat_agent.adapters import picture_process as process\n"
        "process._rehearse(); process._give_up_the_rest()\n"
        "limits = [resource.getrlimit(which)[1] for which in (resource.RLIMIT_AS, resource.RLIMIT_CPU)]\n"
        "print(limits, dict(os.environ))\n"
        "try: open('/etc/passwd').close(); print('read')\n"
        "except OSError: print('refused')\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", probe], env={}, capture_output=True, text=True, check=True
    )

    limits, *access = done.stdout.splitlines()
    assert limits.startswith(f"[{picture_process.MEMORY_MAX}, {picture_process.CPU_MAX_S}]")
    assert "ONECHAT" not in limits
    assert access == (["refused"] if picture_process.landlock_version() else ["read"])


def test_a_decoder_that_asks_for_more_memory_than_there_is_ends_its_process_alone() -> None:
    probe = (
        "import sys\n"
        "from onechat_agent.adapters import picture_process as process\n"
        "process.scaled = lambda content: bytearray(10 * process.MEMORY_MAX)\n"
        "process._rehearse = lambda: None\n"
        "sys.exit(process.main())\n"
    )

    done = subprocess.run([sys.executable, "-I", "-c", probe], input=b"x", env={}, check=False)

    assert done.returncode == picture_process.UNREADABLE
