"""The door that every text comes through, and where a text may be cut. Pure.

Characters are Unicode code points; sizes are UTF-8 bytes. Cutting long messages: pieces.py; lines: lines.py.
"""

from __future__ import annotations

import re
import unicodedata

REPLACEMENT = "\ufffd"
_UNFIT = re.compile("[\x00\ud800-\udfff]")
_ZERO_WIDTH_JOINER = "\u200d"
_STEPS_BACK_MAX = 64  #: longer runs of combining marks are no writing; they are cut where they must be


def fit_unicode(text: str) -> str:
    """`text` as valid Unicode: surrogate pairs joined, lone surrogates and NUL replaced by U+FFFD.

    Models and chats do send them; one such message could never be stored, sent or summarized.
    """
    if text.isascii() and "\x00" not in text:  # most are, and this is a fifth of the search
        return text
    if not _UNFIT.search(text):
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.replace("\x00", REPLACEMENT)


def size(text: str) -> int:
    """How many UTF-8 bytes `text` takes."""
    return len(text) if text.isascii() else len(text.encode())


def belongs_together(text: str, place: int) -> bool:
    """Whether a cut before character `place` would part what is read as one (a letter and its accent)."""
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if before.isascii() and after.isascii():
        return before == "\r" and after == "\n"
    return (
        unicodedata.category(after).startswith("M")
        or _ZERO_WIDTH_JOINER in (before, after)
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= after <= "\U000e007f"  # the tags of regional flags
        or "\u1160" <= after <= "\u11ff"  # Hangul vowels and finals, which join the consonant before
        or (_is_flag_letter(before) and _is_flag_letter(after) and _flag_letters_before(text, place) % 2 == 1)
    )


def cut_place(text: str, place: int) -> int:
    """The last place at or before `place` where `text` may be cut; `place` itself if none is near."""
    for back in range(min(_STEPS_BACK_MAX, place - 1) + 1):
        if not belongs_together(text, place - back):
            return place - back
    return place


def head(text: str, most: int) -> str:
    """The longest start of `text` of at most `most` UTF-8 bytes that ends with a whole character."""
    if size(text) <= most:
        return text
    whole = text.encode()[:most].decode(errors="ignore")
    return whole[: cut_place(text, len(whole))] if whole else whole


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_letters_before(text: str, place: int) -> int:
    """How many flag letters stand in a row right before `place`: an odd number leaves a flag half written."""
    start = place
    while start > 0 and _is_flag_letter(text[start - 1]) and place - start < _STEPS_BACK_MAX:
        start -= 1
    return place - start
