"""What a command prints, kept within bounds: head, tail, and how much there was.

Sizes are bytes until the text is made. What is clipped of a text: domain/text.py.
"""

import codecs
from typing import Final

from onechat_agent.domain.binary import is_binary, kind_of
from onechat_agent.domain.text import OUTPUT_MAX, clip, clip_ends

_KEPT: Final = 4 * OUTPUT_MAX  # of each end, so that it is enough whatever bytes a character takes


class KeptOutput:
    """Takes any amount and holds at most 240,000 bytes of it."""

    def __init__(self) -> None:
        self.total = 0  #: bytes that came
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, piece: bytes) -> None:
        """Take what comes next."""
        self.total += len(piece)
        room = _KEPT - len(self._head)
        if room > 0:
            self._head += piece[:room]
            piece = piece[room:]
        self._tail += piece
        if len(self._tail) > _KEPT:
            del self._tail[:-_KEPT]

    def shown(self, limit: int) -> str:
        """The output as text of at most `limit` characters; of binary output its size and probable type."""
        if is_binary(bytes(self._head)) or is_binary(bytes(self._tail)):
            return f"(binary output: {self.total:,} bytes, {kind_of(bytes(self._head))})"
        if self.total == len(self._head) + len(self._tail):
            return clip((self._head + self._tail).decode(errors="replace"), limit)
        return clip_ends(_beginning(self._head), _end(self._tail), self.total, limit)


def _beginning(content: bytearray) -> str:
    """`content` without a character that the cut at its end has halved."""
    return codecs.getincrementaldecoder("utf-8")(errors="replace").decode(bytes(content))


def _end(content: bytearray) -> str:
    """`content` without a character that the cut at its beginning has halved."""
    start = 0
    while start < min(3, len(content)) and content[start] & 0b1100_0000 == 0b1000_0000:
        start += 1
    return content[start:].decode(errors="replace")
