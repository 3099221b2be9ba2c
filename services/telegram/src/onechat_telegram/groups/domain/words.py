"""Finding a name in a text, as whole words, whatever the case. Linear in the text: no pattern can stall.

In a pattern "*" stands for any letters, also none, within one word.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

ANY: Final = "*"
# An "@" within a word belongs to it: in an address like x@robo neither "robo" nor "@robo" is a word.
_WORD: Final = re.compile(r"[\w@]+")
_PATTERN_WORD: Final = re.compile(r"[\w@*]+")


def words_of(text: str, *, pattern: bool = False) -> tuple[str, ...]:
    """The words of `text`, folded for comparison; with `pattern`, "*" is part of a word."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return tuple((_PATTERN_WORD if pattern else _WORD).findall(unicodedata.normalize("NFKC", folded)))


def names_in(words: Sequence[str], name: str) -> bool:
    """Whether the words of the pattern `name` stand in `words` one after another."""
    wanted = words_of(name, pattern=True)
    if not wanted:
        return False
    starts = range(len(words) - len(wanted) + 1)
    return any(all(map(_fits, words[start : start + len(wanted)], wanted)) for start in starts)


def without_code(text: str, code: Sequence[tuple[int, int]]) -> str:
    """`text` with a line's end in place of each span of `code`."""
    kept, at = [], 0
    for begin, end in sorted(code):
        kept.append(text[at : max(at, begin)])
        at = max(at, end)
    return "\n".join([*kept, text[at:]])


def _fits(word: str, pattern: str) -> bool:
    if ANY not in pattern:
        return word == pattern
    first, *between, last = pattern.split(ANY)
    if len(word) < len(first) + len(last) or not word.startswith(first) or not word.endswith(last):
        return False
    at, end = len(first), len(word) - len(last)
    for piece in between:
        found = word.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True
