"""Text as it may enter a log or a call: valid Unicode, and not longer than a tool may answer.

Lengths are characters (code points) unless a name says bytes. How text that is no tool output is cut into
messages is the memory service's affair.
"""

import re
from typing import Final

OUTPUT_MAX: Final = 30_000  #: what a tool's output may hold, the line on what was left out among it
REPLACEMENT: Final = "\ufffd"
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffd]")
_ROOM_FOR_NOTE: Final = 100  # longer than any note below


def clean(text: str) -> str:
    """`text` without lone surrogates and NUL, which become U+FFFD; two halves of a pair are joined."""
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", REPLACEMENT)


def clip(text: str, limit: int = OUTPUT_MAX) -> str:
    """`text` if it has at most `limit` characters, else its head, how much is missing, and its tail."""
    if len(text) <= limit:
        return text
    side = max(0, limit - _ROOM_FOR_NOTE) // 2
    left_out = len(text) - 2 * side
    note = f"… {left_out:,} of {len(text):,} characters left out …"
    return around(text[:side], text[len(text) - side :], note)


def clip_ends(head: str, tail: str, total_bytes: int, limit: int = OUTPUT_MAX) -> str:
    """The same for an output of which only `head` and `tail` were kept; `total_bytes` is its whole size."""
    side = max(0, limit - _ROOM_FOR_NOTE) // 2
    first, last = head[:side], tail[max(0, len(tail) - side) :]
    left_out = total_bytes - len(first.encode("utf-8", "replace")) - len(last.encode("utf-8", "replace"))
    note = f"… {max(0, left_out):,} of {total_bytes:,} bytes left out …"
    return around(first, last, note)


def around(head: str, tail: str, note: str) -> str:
    """`head`, then `note` on a line of its own, then `tail`."""
    return f"{head.removesuffix(chr(10))}\n{note}\n{tail.removeprefix(chr(10))}"


def plain_line(text: str) -> str:
    """`text` in a line without signs that control a terminal or turn the direction of what stands beside."""
    return " ".join(_CONTROLS.sub(" ", clean(text)).split())


def one_line(text: str, limit: int = 200) -> str:
    """`text` for people in a line: white space joined, cut after `limit` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"
