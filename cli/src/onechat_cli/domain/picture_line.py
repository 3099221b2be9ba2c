"""`/image PATH words`: the line with which the user sends a picture. Pure.

A path with spaces stands in quotes or has a backslash before each, as terminals write a file that is dropped
on them. The file itself: adapters/picture_file.py.
"""

import shlex
from dataclasses import dataclass
from typing import Final

COMMAND: Final = "/image"
USAGE: Final = "say which picture: /image PATH, and words after it if you like; a path with spaces in quotes"


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureLine:
    """What the user wants sent."""

    path: str  #: as it was typed, without its quotes; "" for none
    words: str  #: what goes with it; may be empty


def picture_line(text: str) -> PictureLine | None:
    """What `text` asks to be sent; None when it is another line."""
    command, _, rest = text.lstrip().partition(" ")
    if command.strip() != COMMAND:
        return None
    reader = shlex.shlex(rest, posix=True)
    reader.whitespace_split = True
    reader.commenters = ""
    try:
        path = reader.get_token() or ""
    except ValueError:  # a quote that is not closed
        path = ""
    words = "".join(iter(lambda: reader.instream.read(1), ""))  # what it has not read
    return PictureLine(path=path, words=words.strip())
