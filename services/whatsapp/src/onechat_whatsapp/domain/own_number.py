"""Hiding the user's number in what others write: OWN in every spelling, `@you` where it is a mention. Pure.

A spelling is the digits of a form of the number, in any script, with whatever is no letter between them:
spaces, dashes, brackets, dots, line ends, signs that show nothing. Before them may stand "+" and what is
dialled for another country or another town. The LID has no forms. Forms: number_forms.py.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from onechat_whatsapp.domain.chat_ids import OWN
from onechat_whatsapp.domain.identities import Own
from onechat_whatsapp.domain.number_forms import calling_code, national_forms

YOU: Final = "@you"

_TELLING: Final = 8  # so many digits in a row are no chance, even within a longer row of them
_SHORTEST: Final = 5  # of a national form; the smallest countries have no fewer
_ABROAD: Final = "00|011|0011|0111|010|810|009|119"  # dialled before a calling code
_AT_HOME: Final = "044|045|06|80|01|02|0|8"  # dialled before an area's code
_KEPT_AT_HOME: Final = {
    "1": "",
    "7": "8?",
    "229": "(?:01|0)?",
}  # and left there behind the calling code; else a 0
_PLUS: Final = "+＋﹢"
_CLOSING: Final = {"(": ")", "[": "]", "{": "}", "（": "）"}
_MARKS: Final = frozenset({"Mn", "Me"})  # the square around a digit, and the choice of its picture
_CLOSE: Final = re.compile(
    r"[^@,;:\r\n\v\f\x85\u2028\u2029]{0,3}"
)  # between what is dialled before and the number

_HAN: Final = {
    sign: str(value) for value, signs in enumerate(["〇零", *"一二三四五六七八九"]) for sign in signs
}
_UNSEEN_LETTERS: Final = frozenset("\u115f\u1160\u3164\uffa0")  # fillers: letters only to Unicode


@dataclass(frozen=True, slots=True)
class _Row:
    """Digits of a text with no letter between them."""

    digits: str
    places: list[int]  #: of each in the text; one sign may be several digits

    def touches(self, index: int) -> bool:
        """Whether nothing stands between the digits at `index - 1` and `index`."""
        return 0 < index < len(self.places) and self.places[index] - self.places[index - 1] <= 1


def hidden(text: str, own: Own) -> str:
    """`text` without the user's number and LID: OWN stands for each, `@you` for either as a mention."""
    kept: list[str] = []
    done = 0
    for row in _rows(text):
        for first, last in _found(text, row, own):
            start, end = _whole(text, row.places[first], row.places[last] + 1, done)
            if _is_mention(text, start, end, done, own):
                kept += [text[done : start - 1], YOU]
            else:
                kept += [text[done:start], OWN]
            done = end
    kept.append(text[done:])
    return "".join(kept)


def _rows(text: str) -> Iterator[_Row]:
    digits: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text):
        if value := _digits(sign):
            digits.append(value)
            places += [place] * len(value)
        elif digits and sign.isalnum() and sign not in _UNSEEN_LETTERS:
            yield _Row("".join(digits), places)
            digits, places = [], []
    if digits:
        yield _Row("".join(digits), places)


def _digits(sign: str) -> str:
    """The digits that `sign` shows, in whatever script and shape; empty for anything else."""
    if sign < "\x80":
        return sign if "0" <= sign <= "9" else ""
    if (value := unicodedata.digit(sign, None)) is not None:
        return str(value)
    if sign in _HAN:
        return _HAN[sign]
    if not sign.isnumeric():
        return ""
    shown = "".join(each for each in unicodedata.normalize("NFKC", sign) if each.isalnum() or each == "⁄")
    return shown if shown.isascii() and shown.isdigit() else ""  # ⑮ and the like; ½ is none


def _found(text: str, row: _Row, own: Own) -> Iterator[tuple[int, int]]:
    """Where in `row` the user's ids stand: indexes of the first and last digit of each, in order, apart."""
    pattern, at = _pattern(own), 0
    while match := pattern.search(row.digits, at):
        core, end = match.span(str(match.lastgroup))
        if end - core < _TELLING and (row.touches(core) or row.touches(end)):
            at = core + 1  # within another number, which is longer
            continue
        dialled = match.start()
        close = not row.touches(dialled) and _CLOSE.fullmatch(
            text, row.places[core - 1] + 1, row.places[core]
        )
        yield (dialled if close else core), end - 1
        at = end


@lru_cache(maxsize=8)
def _pattern(own: Own) -> re.Pattern[str]:
    """What finds `own` among digits: group `full` with the calling code, `home` without it, `lid`."""
    code = calling_code(own.number)
    home = sorted(
        (form for form in national_forms(own.number) if len(form) >= _SHORTEST), key=len, reverse=True
    )
    found = []
    if home:
        forms = "|".join(home)
        found.append(f"(?:{_ABROAD})?(?P<full>{code}{_KEPT_AT_HOME.get(code, '0?')}(?:{forms}))")
        found.append(f"(?:{_AT_HOME})?(?P<home>{forms})")
    if own.lid:
        found.append(f"(?P<lid>{own.lid})")
    return re.compile("|".join(found) or r"(?!)")


def _whole(text: str, start: int, end: int, done: int) -> tuple[int, int]:
    """The span from `start` to `end` with "+" and bracket before it, and the marks on its last sign."""
    while end < len(text) and unicodedata.category(text[end]) in _MARKS:
        end += 1
    while start > done:
        before = text[start - 1]
        shut = _CLOSING.get(before, "")
        opened = shut and text.count(shut, start, end) > text.count(before, start, end)
        if before not in _PLUS and not opened:
            break
        start -= 1
    return start, end


def _is_mention(text: str, start: int, end: int, done: int, own: Own) -> bool:
    """Whether the span is what WhatsApp puts behind the "@" of a mention, with the "@" before it."""
    before, behind = text[max(start - 2, done) : start], text[end : end + 1]
    if not before.endswith("@") or before[:-1].isalnum() or behind.isdecimal():
        return False
    return text[start:end] in {own.lid, *own.numbers}
