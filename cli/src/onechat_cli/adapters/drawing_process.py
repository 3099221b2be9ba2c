"""Makes a picture fit for a terminal, in a process of its own: bytes on the input, bytes on the output.

Its arguments are a shape and the most pixels in width and height. Shape `dots`: the output is "WIDTH HEIGHT",
a line end, and three bytes a pixel, row by row; shape `png`: a PNG. Pictures come from anybody, so it has few
means. Who starts it: drawing.py.
"""

import io
import sys
from typing import Final

from onechat_runtime.few_means import give_up_means
from PIL import Image, ImageOps

PIXELS_MAX: Final = 50_000_000  # as they are decoded; JPEG is decoded at a fraction of its size
MEMORY_MAX: Final = 1_000_000_000  # bytes of address space
CPU_MAX_S: Final = 10
_FORMATS: Final = ("PNG", "JPEG", "WEBP", "GIF")


def drawn(content: bytes, width: int, height: int) -> Image.Image:
    """The first frame, upright, on black as most terminals are, within so many pixels."""
    Image.MAX_IMAGE_PIXELS = None  # counted here, after a JPEG's own scaling
    with Image.open(io.BytesIO(content), formats=_FORMATS) as image:
        side = 2 * max(width, height)
        image.draft("RGB", (side, side))
        if image.width * image.height > PIXELS_MAX:
            raise ValueError("too many pixels")
        upright = ImageOps.exif_transpose(image).convert("RGBA")
    upright.thumbnail((width, height))
    ground = Image.new("RGB", upright.size)
    ground.paste(upright, mask=upright.getchannel("A"))
    return ground


def main() -> int:
    """Draw what the input holds."""
    shape, width, height = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    give_up_means(memory_bytes=MEMORY_MAX, cpu_s=CPU_MAX_S)
    try:
        image = drawn(sys.stdin.buffer.read(), width, height)
        if shape == "dots":
            sys.stdout.buffer.write(f"{image.width} {image.height}\n".encode() + image.tobytes())
        else:
            image.save(sys.stdout.buffer, "PNG")
    except Exception:  # noqa: BLE001 - decoders raise anything; the picture's line stands without it
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
