"""How the demo model compresses: it cuts the source. Pure and deterministic.

All lengths are UTF-8 bytes. An answer is three lines, longest first. In over-length mode each line is 0.8 to
1.35 times as long as asked, drawn from the seed and the source: real models cannot count bytes.
"""

import random
import re
from collections.abc import Sequence

from onechat_demo.answers import Answer

LIMIT_DEFAULT = 512
SHARES = (1.0, 0.88, 0.586)  # of the limit, for the three lines
OVER_LENGTH = (0.8, 1.35)  # times the asked length
SHORTER = (0.7, 0.95)  # times the shortest line so far, when that was over the limit
_LIMIT = re.compile(r"(\d{2,5})[\s-]*bytes?\b")
_INPUT = re.compile(r"<input>\n?(.*)\n?</input>", re.DOTALL)
_NAMED = re.compile(r"\s*\d+\+\d+\|")


def compact(task: str, tries: Sequence[str], seed: int | None) -> Answer:
    """The answer to a compaction's `task` after `tries` over the limit; with a `seed` in over-length mode."""
    source = _source(task)
    limit = _limit(task)
    chance = None if seed is None else random.Random(f"{seed}:{len(tries)}:{source}")  # noqa: S311 no secret
    if tries:
        return Answer(text=cut(source, _shorter(limit, tries, chance)))
    lengths = [int(limit * share) for share in SHARES]
    if chance is None:
        return Answer(text="\n".join(cut(source, length) for length in lengths))
    lines = [_filled(source, int(length * chance.uniform(*OVER_LENGTH))) for length in lengths]
    return Answer(text="\n".join(sorted(lines, key=lambda line: -len(line.encode()))))


def cut(source: Sequence[str], length: int) -> str:
    """The head of `source`, or of both its halves, in at most `length` bytes, cut between characters."""
    if len(source) == 1:
        return head(source[0], length)
    first, second = source[0], " ".join(source[1:])
    room = length - 1
    second_share = min(len(second.encode()), max(room // 2, room - len(first.encode())))
    start = head(first, room - second_share)
    return f"{start} {head(second, room - len(start.encode()))}".strip()


def head(text: str, length: int) -> str:
    """The longest start of `text` within `length` bytes that ends at a character's end, trimmed."""
    return text.encode()[: max(length, 0)].decode(errors="ignore").strip()


def _source(task: str) -> list[str]:
    """The texts to compress: one for a message, two for lines that merge; without newlines and names."""
    found = _INPUT.search(task)
    whole = found[1].strip() if found else task
    lines = [line for line in whole.splitlines() if line.strip()]
    if len(lines) > 1 and all(_NAMED.match(line) for line in lines):
        return [_NAMED.sub("", line, count=1).strip() or "-" for line in lines]
    return [" ".join(whole.splitlines()) or "-"]


def _limit(task: str) -> int:
    found = _LIMIT.search(task.partition("<input>")[0]) or _LIMIT.search(task.rpartition("</input>")[2])
    return int(found[1]) if found else LIMIT_DEFAULT


def _shorter(limit: int, tries: Sequence[str], chance: random.Random | None) -> int:
    shortest = min(
        len(line.encode()) for text in tries for line in text.split("\n") if line.strip() or not text
    )
    if chance is None:
        return min(limit, int(shortest * 0.9))
    return int(shortest * chance.uniform(*SHORTER))


def _filled(source: Sequence[str], length: int) -> str:
    """About `length` bytes: the source cut, or its text again and again where it is too short for that."""
    whole = " ".join(source)
    while len(whole.encode()) < length:
        whole = f"{whole} {whole}"
    return cut(source, length) if len(" ".join(source).encode()) >= length else head(whole, length)
