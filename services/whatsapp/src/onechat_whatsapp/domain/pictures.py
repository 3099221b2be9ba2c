"""Which images can be sent, told by their first bytes, and in how many bytes. Pure.

They come from the agent, which has them from the memory; WhatsApp's own limit is lower than its.
"""

from typing import Final

IMAGE_BYTES_MAX: Final = 16 * 2**20  # the most that the wire sends
PIECE_BYTES_MAX: Final = 65_536  # of one piece on its way; common.v1.Chunk

TOO_LARGE: Final = "The image is larger than 16 MiB, the most that WhatsApp takes, and nothing was sent."
NO_IMAGE: Final = "This is no PNG, JPEG, WebP or GIF image, and nothing was sent."


def media_type(image: bytes) -> str:
    """The media type of an image by its content, such as "image/png"; "" for anything else."""
    if image.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if image.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if image.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if image.startswith(b"RIFF") and image[8:12] == b"WEBP":
        return "image/webp"
    return ""


def fault_of(image: bytes) -> str:
    """Why an image can't be sent, a sentence; "" where it can."""
    if len(image) > IMAGE_BYTES_MAX:
        return TOO_LARGE
    return "" if media_type(image) else NO_IMAGE
