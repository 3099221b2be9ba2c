"""Pictures of one pixel in each type that is stored, and one of any size. Sizes are bytes."""

import random
from base64 import b64decode

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
