"""Scales one picture for a model, in a process of its own: bytes on the input, bytes on the output.

A picture may come from anybody and may be made to break whoever decodes it: to fill the memory, to take
hours, to run code. So this process has little memory and little time, no file, no environment, and gives up
the rest of the machine before it reads a byte. Exit status 0: the output is a media type, a line end, and the
picture. Who starts it: picture_scaling.py. Sizes are pixels unless they say bytes.
"""

import io
import sys
from contextlib import suppress
from typing import Final

from onechat_runtime.few_means import give_up_means
from PIL import (
    Image,
    ImageOps,
    MpoImagePlugin,  # noqa: F401 - what some cameras call a JPEG; loaded before the files are given up
)

from onechat_agent.tools.landlock import landlock_version, restrict

SIDE_MAX: Final = 2_048
PIXELS_MAX: Final = 50_000_000  # as they are decoded; JPEG is decoded at a fraction of its size
MEMORY_MAX: Final = 1_000_000_000  # bytes of address space
CPU_MAX_S: Final = 20
PNG_MAX: Final = 1_500_000  # bytes; a larger one is a photograph and goes as JPEG
ORIENTATION: Final = 0x0112  # the field of EXIF; 1 is upright
UNREADABLE, TOO_LARGE = 3, 4  #: exit statuses
_JPEG, _END_OF_JPEG = b"\xff\xd8\xff", b"\xff\xd9"
_FORMATS: Final = ("PNG", "JPEG", "WEBP", "GIF")


class PictureTooLarge(Exception):
    """It has more pixels than are decoded."""


def scaled(content: bytes) -> tuple[str, bytes]:
    """(media type, content) of the picture as a model gets it: upright, on white, its first frame.

    Raises PictureTooLarge, and whatever a decoder raises.
    """
    Image.MAX_IMAGE_PIXELS = None  # counted here, after a JPEG's own scaling
    if content.startswith(_JPEG):
        content += _END_OF_JPEG  # one that was cut off is shown as far as it goes, as browsers do
    with Image.open(io.BytesIO(content), formats=_FORMATS) as image:
        kind = image.format
        image.draft("RGB", (2 * SIDE_MAX, 2 * SIDE_MAX))
        if image.width * image.height > PIXELS_MAX:
            raise PictureTooLarge
        plain = _in_colour(image)
    plain.thumbnail((SIDE_MAX, SIDE_MAX))
    upright = _on_white(ImageOps.exif_transpose(plain))
    upright.info = {}  # no place, no comment, no date goes along
    upright.getexif().clear()
    if kind in ("PNG", "GIF", "WEBP"):
        png = _saved(upright, "PNG")
        if len(png) <= PNG_MAX:
            return "image/png", png
    return "image/jpeg", _saved(upright, "JPEG")


def _in_colour(image: Image.Image) -> Image.Image:
    """The first frame in a mode that can be scaled well; 16 bits of grey become 8, not white."""
    image.load()
    exif = image.getexif()
    if image.mode.startswith("I;16") or image.mode == "I":
        made = image.convert("I").point(lambda grey: grey * (1 / 256)).convert("L")
    elif image.mode in ("P", "PA", "LA", "La", "RGBa") or "transparency" in image.info:
        made = image.convert("RGBA")
    elif image.mode in ("L", "RGB", "RGBA"):
        made = image
    else:  # such as CMYK, 1, YCbCr, LAB, F
        made = image.convert("RGB")
    made.info.clear()
    made.getexif()[ORIENTATION] = exif.get(ORIENTATION, 1)
    return made


def _on_white(image: Image.Image) -> Image.Image:
    if image.mode != "RGBA":
        return image
    ground = Image.new("RGB", image.size, "white")
    ground.paste(image, mask=image.getchannel("A"))
    return ground


def _saved(image: Image.Image, form: str) -> bytes:
    made = io.BytesIO()
    image.save(made, form, **({"quality": 85} if form == "JPEG" else {}))
    return made.getvalue()


def _rehearse() -> None:
    """Have all loaded that a picture can need, as long as there are files to load it from."""
    photograph = Image.Exif()
    photograph[ORIENTATION] = 6
    for form in ("PNG", "JPEG", "WEBP", "GIF"):
        made = io.BytesIO()
        Image.new("RGB", (2, 2)).save(made, form, exif=photograph)
        scaled(made.getvalue())


def _give_up_the_rest() -> None:
    """Little memory and time, no file, no other process's secrets."""
    give_up_means(memory_bytes=MEMORY_MAX, cpu_s=CPU_MAX_S)
    with suppress(OSError, AttributeError):
        if version := landlock_version():
            restrict(["/"], [], [], version)


def main() -> int:
    """Scale what the input holds."""
    _rehearse()
    _give_up_the_rest()
    try:
        kind, content = scaled(sys.stdin.buffer.read())
    except PictureTooLarge:
        return TOO_LARGE
    except Exception:  # noqa: BLE001 - decoders raise anything; a line for the model says that it is unreadable
        return UNREADABLE
    sys.stdout.buffer.write(f"{kind}\n".encode() + content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
