"""Stored pictures as agents name them, and which of a turn's new ones its model sees. Pure.

A name is what the memory gave, 16 hex digits and an ending; a line `[image NAME]` stands for the picture in a
text. Their pixels: pictures.py. What is taken as a picture at all is the memory service's affair.
"""

import re
from collections.abc import Collection, Sequence
from typing import Final, NewType

ImageName = NewType("ImageName", str)  #: 16 hex digits of the content's SHA-256, and the type's ending

NEW_MAX: Final = 8  #: new pictures of a turn that its model sees
_NAME: Final = re.compile(r"[0-9a-f]{16}\.(?:png|jpg|webp|gif)", re.ASCII)


def image_name(text: str) -> ImageName | None:
    """`text` as a stored name; None where it cannot be one, such as a path."""
    return ImageName(text) if _NAME.fullmatch(text) else None


def mark(name: str) -> str:
    """The line that stands for a picture in a text."""
    return f"[image {name}]"


def with_marks(text: str, images: Sequence[str]) -> str:
    """`text` with a line for each of `images` that has none in it yet."""
    there = {line.strip() for line in text.splitlines()}
    lines = [line for line in dict.fromkeys(map(mark, images)) if line not in there]
    return "\n".join([text, *lines] if text.strip() else lines)


def newest_new(messages: Sequence[Sequence[str]], seen: Collection[str]) -> list[tuple[str, ...]]:
    """Which of its pictures each of `messages` brings to the model, in its own order; oldest message first.

    `seen`: what the turn has shown as new so far; it stays, since each call must begin with the bytes of the
    one before. What is left of the turn's NEW_MAX goes to the newest; a picture that comes twice is shown
    once, with the newest message that has it.
    """
    room = NEW_MAX - len(seen)
    taken = set(seen)
    chosen: list[tuple[str, ...]] = []
    for images in reversed(messages):
        shown: list[str] = []
        for name in reversed(images):
            if room > 0 and name not in taken:
                taken.add(name)
                shown.append(name)
                room -= 1
        chosen.append(tuple(reversed(shown)))
    return chosen[::-1]
