"""Texts of a made chat: their sizes, and words of an invented language as frequent as those of a real one.

A text is a slice of one long run of words, which takes no time to cut and keeps the frequencies. Most are in
Latin letters, some of the words accented; some are in Han characters, which have no spaces between words. The
same seed gives the same texts for ever. Sizes are UTF-8 bytes.
"""

import functools
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from onechat_memory.domain.messages import Kind

SEED: Final = 20260101
WORDS: Final = 60_000  #: different ones in Latin letters
HAN_WORDS: Final = 20_000  #: of one to three characters
HAN_CHARACTERS: Final = 3_000
LATIN_RUN: Final = 600_000  # words
HAN_RUN: Final = 200_000
SENTENCE: Final = 12  # words, on average
_STEEP: Final = 1.05  # a word's frequency falls with this power of its rank, as Zipf found
_SYLLABLES: Final = [start + vowel for start in "btkdmnrslpvgfh" for vowel in "aeiou"]
_ACCENTED: Final = str.maketrans("aeiou", "áèîöü")
_ACCENTED_SHARE: Final = 0.03
_HAN_FIRST: Final = 0x4E00
HAN_SHARE: Final = 0.06  #: of the messages that people and the model write
LINE_BYTES: Final = (250, 500)  #: of lines that a model writes
TEXT_MAX: Final = 12_000
# The median of a kind's texts, and the spread of their logarithm.
_SIZES: Final = {
    Kind.USER: (90, 0.9),
    Kind.REPLY: (420, 0.8),
    Kind.TOOL: (130, 0.6),
    Kind.ECHO: (700, 1.3),
    Kind.WORK: (260, 0.8),
}
_OF_TOOLS: Final = (Kind.TOOL, Kind.ECHO)


def text_of(kind: Kind, rng: random.Random) -> str:
    """A message's text. What tools are told and say begins with a number that comes once."""
    median, spread = _SIZES[kind]
    size = max(4, min(round(rng.lognormvariate(math.log(median), spread)), TEXT_MAX))
    if kind in _OF_TOOLS:
        return f"{rng.getrandbits(32):08x} {latin().cut(size, rng)}"
    return (han() if rng.random() < HAN_SHARE else latin()).cut(size, rng)


def line(rng: random.Random) -> str:
    """A line as a model writes it."""
    return latin().cut(rng.randint(*LINE_BYTES), rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A long run of words."""

    words: tuple[str, ...]  #: the different ones, the most frequent first
    text: str
    between: str  #: what stands between two words
    byte_share: float  #: characters for each byte

    def cut(self, size: int, rng: random.Random) -> str:
        """Whole words, from anywhere, of about `size` bytes; a part of a word where not even one fits."""
        characters = max(1, round(size * self.byte_share))
        begin = int(rng.random() * (len(self.text) - characters - 100))
        if not self.between:
            return self.text[begin : begin + characters]
        begin = self.text.find(self.between, begin) + 1
        end = self.text.rfind(self.between, begin, begin + characters + 1)
        return self.text[begin : end if end > begin else begin + characters]


@functools.cache
def latin() -> Run:
    """Words in Latin letters, in sentences."""
    rng = random.Random(SEED)
    words = _different(WORDS, lambda rank: _latin_word(rng, rank))
    run = _frequent(rng, words, LATIN_RUN)
    for place in range(0, len(run), SENTENCE):
        run[place] = run[place].capitalize()
        run[place - 1] += rng.choice((".", ".", ",", "?", ":"))
    text = " ".join(run)
    return Run(words=words, text=text, between=" ", byte_share=len(text) / len(text.encode()))


@functools.cache
def han() -> Run:
    """Words in Han characters, with a mark after some of them."""
    rng = random.Random(SEED + 1)
    characters = [chr(_HAN_FIRST + 5 * place) for place in range(HAN_CHARACTERS)]
    weights = _falling(HAN_CHARACTERS)
    words = _different(
        HAN_WORDS,
        lambda _: "".join(rng.choices(characters, cum_weights=weights, k=rng.choice((1, 2, 2, 2, 3)))),
    )
    run = _frequent(rng, words, HAN_RUN)
    for place in range(0, len(run), SENTENCE):
        run[place] += rng.choice(("，", "。"))
    return Run(words=words, text="".join(run), between="", byte_share=1 / 3)


def _latin_word(rng: random.Random, rank: int) -> str:
    """The longer the less frequent."""
    syllables = 1 + min(3, len(str(rank)) // 2) + (rng.random() < 0.5)
    word = "".join(rng.choices(_SYLLABLES, k=syllables)) + rng.choice(("", "", "n", "s"))
    return word.translate(_ACCENTED) if rng.random() < _ACCENTED_SHARE else word


def _different(count: int, make: Callable[[int], str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    while len(found) < count:
        found[make(len(found))] = None
    return tuple(found)


def _frequent(rng: random.Random, words: Sequence[str], count: int) -> list[str]:
    return rng.choices(words, cum_weights=_falling(len(words)), k=count)


def _falling(count: int) -> list[float]:
    """Weights by rank, added up."""
    return list(accumulate((rank + 1) ** -_STEEP for rank in range(count)))


def texts_of(sizes: tuple[int, int], count: int) -> list[str]:
    """`count` texts of `sizes` bytes, made once, so that what is measured does not make them."""
    rng, run = random.Random(SEED), latin()
    return [run.cut(rng.randint(*sizes), rng) for _ in range(count)]
