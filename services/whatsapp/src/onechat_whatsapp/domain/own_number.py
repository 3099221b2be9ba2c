"""Hiding the user's number in what others write: OWN in every spelling, `@you` where it is a mention. Pure.

A spelling is the digits of a form of the number, in any script, with whatever is no letter between them:
spaces, dashes, brackets, dots, line ends, signs that show nothing, all of these as a link has them ("%20").
Before them may stand "+" and what is dialled for another country or another town. The LID has no forms.
Forms: number_forms.py.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from onechat_whatsapp.domain.chat_ids import OWN
from onechat_whatsapp.domain.identities import Own
from onechat_whatsapp.domain.number_forms import calling_code, national_forms

YOU: Final = "@you"
READ_MAX: Final = 131_072  # characters of a text that are looked through; twice what is shown of one

_TELLING: Final = 8  # so many digits in a row are no chance, even within a longer row of them
_SHORTEST: Final = 5  # of a national form; the smallest countries have no fewer
_ABROAD: Final = "00|011|0011|0111|010|810|009|119"  # dialled before a calling code
_AT_HOME: Final = "044|045|06|80|01|02|0|8"  # dialled before an area's code
# What is dialled at home and often left there behind a calling code; behind all others a 0.
_KEPT_AT_HOME: Final = {"1": "", "7": "8?", "229": "(?:01|0)?"}
_PLUS: Final = "+＋﹢"
_CLOSING: Final = {"(": ")", "[": "]", "{": "}", "（": "）"}
_MARKS: Final = frozenset({"Mn", "Me"})  # the square around a digit, and the choice of its picture
# What may stand between the number and what is dialled before it.
_CLOSE: Final = re.compile(r"[^@,;:\r\n\v\f\x85\u2028\u2029]{0,3}")
_UNSEEN_LETTERS: Final = frozenset("\u115f\u1160\u3164\uffa0")  # fillers: letters only to Unicode
_TAG_ZERO: Final = 0xE0030  # of ten digits that nobody sees, and a model may read
_ESCAPED: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+|.", re.DOTALL)  # as links have it: "%20", "%C2%A0"

_Sign = tuple[int, int, str]  # where it begins and ends in the text, and what it shows


@dataclass(frozen=True, slots=True)
class _Row:
    """Digits of a text with no letter between them."""

    digits: str
    places: list[int]  #: of each in the text; one sign may be several digits
    ends: list[int]  #: where the sign of each ends

    def touches(self, index: int) -> bool:
        """Whether nothing stands between the digits at `index - 1` and `index`."""
        return 0 < index < len(self.places) and self.places[index] <= self.ends[index - 1]


def hidden(text: str, own: Own) -> str:
    """`text` without the user's number and LID: OWN stands for each, `@you` for either as a mention."""
    plain = _hidden(text, own, ((place, place + 1, sign) for place, sign in enumerate(text)))
    return _hidden(plain, own, _unescaped(plain)) if "%" in plain else plain


def cut(text: str) -> str:
    """The beginning of `text` that is looked through; it ends in no part of a number."""
    if len(text) <= READ_MAX:
        return text
    end = READ_MAX
    while end and not (text[end - 1].isalpha() and not _digits(text[end - 1])):
        end -= 1
    return text[:end]


def _hidden(text: str, own: Own, signs: Iterable[_Sign]) -> str:
    kept: list[str] = []
    done = 0
    for row in _rows(signs):
        for first, last in _found(text, row, own):
            start, end = _whole(text, row.places[first], row.ends[last], done)
            if _is_mention(text, start, end, done, own):
                kept += [text[done : start - 1], YOU]
            else:
                kept += [text[done:start], OWN]
            done = end
    kept.append(text[done:])
    return "".join(kept)


def _unescaped(text: str) -> Iterator[_Sign]:
    for found in _ESCAPED.finditer(text):
        place = found.start()
        if len(found[0]) == 1:
            yield place, place + 1, found[0]
            continue
        for sign in bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "surrogateescape"):
            end = place + 3 * len(sign.encode("utf-8", "surrogateescape"))
            yield place, end, sign
            place = end


def _rows(signs: Iterable[_Sign]) -> Iterator[_Row]:
    digits: list[str] = []
    places: list[int] = []
    ends: list[int] = []
    for place, end, sign in signs:
        if value := _digits(sign):
            digits.append(value)
            places += [place] * len(value)
            ends += [end] * len(value)
        elif digits and sign.isalnum() and sign not in _UNSEEN_LETTERS:
            yield _Row("".join(digits), places, ends)
            digits, places, ends = [], [], []
    if digits:
        yield _Row("".join(digits), places, ends)


def _digits(sign: str) -> str:
    """The digits that `sign` shows, in whatever script and shape; empty for anything else."""
    if sign < "\x80":
        return sign if "0" <= sign <= "9" else ""
    if 0 <= (tag := ord(sign) - _TAG_ZERO) <= 9:
        return str(tag)
    value = unicodedata.numeric(sign, None)
    if value is None:
        return ""
    if value in range(10):
        return str(int(value))  # ٣, 三, ㈢, Ⅲ
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
        close = not row.touches(dialled) and _CLOSE.fullmatch(text, row.ends[core - 1], row.places[core])
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
    # How many brackets of each kind are closed within the number and not opened there.
    opened = {
        each: text.count(shut, start, end) - text.count(each, start, end) for each, shut in _CLOSING.items()
    }
    while start > done:
        before = text[start - 1]
        if opened.get(before, 0) > 0:
            opened[before] -= 1
        elif before not in _PLUS:
            break
        start -= 1
    return start, end


def _is_mention(text: str, start: int, end: int, done: int, own: Own) -> bool:
    """Whether the span is what WhatsApp puts behind the "@" of a mention, with the "@" before it."""
    before, behind = text[max(start - 2, done) : start], text[end : end + 1]
    if not before.endswith("@") or before[:-1].isalnum() or behind.isdecimal():
        return False
    return text[start:end] in {own.lid, *own.numbers}
