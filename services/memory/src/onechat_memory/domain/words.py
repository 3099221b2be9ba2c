"""What a text is found by: words without case and accents; pairs of signs where no spaces part words. Pure.

A word is a run of letters and digits. In a script without spaces (Han, Kana, Thai, Lao, Khmer, Myanmar and
their neighbours; emoji too) a run of signs gives its pairs, each overlapping the next, and its last sign
alone: so any run within it is some of its pairs in a row. Short beginnings of words and single signs stand
for themselves as "ab*", since gathering all that begins so takes long where that is much. Texts and what is
searched for are folded alike. Who keeps the words, and in which form: adapters/search.py.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

WORD_MAX = 64  #: characters of a word that count; what follows them neither finds nor hinders
BEGINNING_MAX = 2  #: characters of a beginning that stands for itself

# Marks that are accents or points, not letters: the vowel signs of Indic and Southeast Asian scripts and the
# voicing of Kana have their own sound and stay. Skin tones go the same way.
_DROPPED_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a"
    "\u08ca-\u08e1\u08e3-\u08ff\u1ab0-\u1aff"
    "\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\U0001f3fb-\U0001f3ff\U000e0100-\U000e01ef"
)
_EMOJI = "\u203c\u2049\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
_SIGNS = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u3099-\u309f\u30a1-\u30fa"
    "\u30fc-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\ua4cf\uf900-\ufaff\U00016fe0-\U00018cff"
    "\U0001aff0-\U0001b16f\U00020000-\U0003ffff"  # Han, Kana, Bopomofo, Yi, Tangut, Khitan
    "\u0e01-\u0e4e\u0e80-\u0eff"  # Thai, Lao
    "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"  # Myanmar
    "\u1780-\u17dd"  # Khmer
    "\u1950-\u19df\u1a20-\u1aaf\uaa80-\uaadf"  # the Tai scripts
    "\u1b00-\u1b7f\ua980-\ua9df" + _EMOJI  # Balinese, Javanese
)
_DROPPED = re.compile(f"[{_DROPPED_MARKS}]")
_IS_EMOJI = re.compile(f"[{_EMOJI}]")
# Letters that no normal form takes apart, as people write them without the letter's own stroke or dot.
_PLAIN_LETTERS = dict(zip("ıłøđðħŧþæœ", ["i", "l", "o", "d", "d", "h", "t", "th", "ae", "oe"], strict=True))
_ANY = "*"  #: after a word that is searched for: whatever follows
_RUNS = re.compile(f"([{_SIGNS}]+)|([^ *{_SIGNS}]+)([*]?)")
_PARTS = re.compile("[0-9A-Za-z\x80-\U0010ffff]+")  # most are words as they are, and need no folding


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a message must hold to be found, each at least once; false when there is nothing to search for."""

    words: tuple[str, ...] = ()  #: as words_in gives them
    beginnings: tuple[str, ...] = ()  #: of words, too long for words_in to give them
    runs: tuple[tuple[str, ...], ...] = ()  #: pairs of signs, which must follow each other

    def __bool__(self) -> bool:
        return bool(self.words or self.beginnings or self.runs)


def words_in(text: str) -> list[str]:
    """What `text` is to be found by: the pairs of each run of signs in order, then all else, each once."""
    pairs: list[str] = []
    words: dict[str, None] = {}
    for part in dict.fromkeys(_PARTS.findall(text)):
        if part.isascii():
            words[part.lower()] = None
            continue
        for signs, word, _ in _RUNS.findall(folded(part)):
            if signs:
                pairs.extend(_pairs(signs))
                pairs.append(signs[-1])  # keeps this run's pairs from being in a row with the next one's
            else:
                words[word] = None
    return _with_beginnings(pairs, words)


def _with_beginnings(pairs: list[str], words: Iterable[str]) -> list[str]:
    whole = dict.fromkeys([word[:WORD_MAX] for word in words])
    ones = {word[0] for word in whole}.union([pair[0] for pair in pairs])
    twos = {word[:2] for word in whole if len(word) > 1}
    return [*pairs, *whole, *[one + _ANY for one in sorted(ones)], *[two + _ANY for two in sorted(twos)]]


def wanted(asked: str) -> Wanted:
    """What a message must hold for all of `asked` to occur in it; "word*" is any word that begins so."""
    words: dict[str, None] = {}
    beginnings: dict[str, None] = {}
    runs: dict[tuple[str, ...], None] = {}
    for signs, word, any_end in _RUNS.findall(folded(asked)):
        if len(signs) > 1:
            runs[tuple(_pairs(signs))] = None
        elif signs:
            words[signs + _ANY] = None
        elif any_end and len(word) > BEGINNING_MAX:
            beginnings[word[:WORD_MAX]] = None
        else:
            words[word[:WORD_MAX] + any_end] = None
    return Wanted(words=tuple(words), beginnings=tuple(beginnings), runs=tuple(runs))


def folded(text: str) -> str:
    """`text` without case, accents and what shows nothing; a space for what is in no word, but for "*"."""
    caseless = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", caseless.translate(_FOLDED))


def _pairs(signs: str) -> list[str]:
    return [signs[place : place + 2] for place in range(len(signs) - 1)]


class _Folds(dict[int, str]):
    """What each code point becomes, found out when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = fold = _fold(chr(code))
        return fold


def _fold(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf" or _DROPPED.match(character):
        return ""
    if category == "Nd":
        return str(unicodedata.digit(character))
    if category[0] in "LMN" or character == _ANY or _IS_EMOJI.match(character):
        return _PLAIN_LETTERS.get(character, character)
    return " "


_FOLDED = _Folds()
