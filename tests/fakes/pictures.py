"""Pictures of one pixel in each type that is stored, one of any size, and drawn ones. Sizes are bytes."""

import io
import random
from base64 import b64decode
from typing import Any

from PIL import Image

PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
JPEG = b64decode(
    "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////"
    "////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA="
)
WEBP = b64decode("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
GIF = b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
ENDINGS = {PNG: ".png", JPEG: ".jpg", WEBP: ".webp", GIF: ".gif"}


def picture(size: int, seed: int = 0) -> bytes:
    """A PNG of `size` bytes, always the same for one `seed`; what follows its one pixel is noise."""
    return PNG + random.Random(seed).randbytes(size - len(PNG))


def drawn(width: int, height: int, form: str = "PNG", *, colour: Any = "red", **options: Any) -> bytes:
    """A picture of so many pixels, all of one colour; `options` are those of its format."""
    return encoded(Image.new("RGB", (width, height), colour), form, **options)


def encoded(image: Image.Image, form: str, **options: Any) -> bytes:
    """`image` as a file."""
    made = io.BytesIO()
    image.save(made, form, **options)
    return made.getvalue()


def opened(content: bytes) -> Image.Image:
    """The picture in a file, loaded."""
    image = Image.open(io.BytesIO(content))
    image.load()
    return image
