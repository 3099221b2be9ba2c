"""Lengths as Telegram counts them: UTF-16 code units, where a letter past U+FFFF takes two.

Python's strings hold whole letters, so nothing here can cut a surrogate pair in two. Where a text may be cut:
splitting.py.
"""

import unicodedata

_JOINS_BOTH_SIDES = "\u200d"  # zero width joiner, inside a family of emoji


def units(text: str) -> int:
    """How long `text` is in UTF-16 code units."""
    return len(text) if text.isascii() else len(text) + sum(letter > "\uffff" for letter in text)


def fitting(text: str, limit: int) -> int:
    """The greatest index of `text` before which there are at most `limit` units."""
    if len(text) <= limit // 2:
        return len(text)
    used = 0
    for index, letter in enumerate(text):
        used += 2 if letter > "\uffff" else 1
        if used > limit:
            return index
    return len(text)


def between_letters(text: str, index: int) -> int:
    """The nearest place at or before `index` where a cut parts no accent or joined emoji from its base.

    Looks back 32 letters at most; where there is no such place, `index` itself.
    """
    place = index
    while index - place < 32 and 0 < place < len(text):
        if not _belongs_to_the_one_before(text[place]) and text[place - 1] != _JOINS_BOTH_SIDES:
            return place
        place -= 1
    return index


def blank(text: str) -> bool:
    """Whether nothing of `text` can be seen; Telegram refuses such a message as empty."""
    return all(letter.isspace() or unicodedata.category(letter) in {"Cc", "Cf"} for letter in text)


def unit_offsets(text: str) -> list[int]:
    """For each index of `text` and for its end, the units before it."""
    offsets = [0]
    for letter in text:
        offsets.append(offsets[-1] + (2 if letter > "\uffff" else 1))
    return offsets


def _belongs_to_the_one_before(letter: str) -> bool:
    return (
        unicodedata.category(letter).startswith("M")  # accents, variation selectors, keycaps
        or letter == _JOINS_BOTH_SIDES
        or "\U0001f3fb" <= letter <= "\U0001f3ff"  # skin tones
    )
