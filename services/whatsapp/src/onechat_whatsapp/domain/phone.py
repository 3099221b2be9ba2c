"""A phone number as people write it, in international form. Pure."""

import unicodedata
from typing import Final, NewType

PhoneNumber = NewType("PhoneNumber", str)  #: 7 to 15 digits that begin with the country's code

LENGTHS: Final = range(7, 16)  # digits: E.164 has at most 15; the shortest have 4 after a country's code
_DIGITS: Final = frozenset("0123456789")
_BETWEEN: Final = frozenset({"Zs", "Pd", "Cf"})  # spaces, dashes, and the unseen marks of a copied number


class NoPhoneNumber(ValueError):
    """The text is no phone number in international form, which begins with the country's code and no 0."""


def number_in(text: str) -> PhoneNumber:
    """The number that `text` writes, with or without "+", spaces, dashes, brackets. Raises NoPhoneNumber."""
    shown = "".join(sign for sign in text if unicodedata.category(sign) not in _BETWEEN and sign != "\t")
    bare = shown.removeprefix("+")
    # "(0)" is the 0 that a number has at home only: dropped or kept, it could be somebody else's number.
    if "(0)" in bare or not _brackets_match(bare):
        raise NoPhoneNumber
    digits = bare.replace("(", "").replace(")", "")
    if not set(digits) <= _DIGITS or len(digits) not in LENGTHS or digits.startswith("0"):
        raise NoPhoneNumber
    return PhoneNumber(digits)


def _brackets_match(text: str) -> bool:
    """Whether every bracket is opened and closed in turn; none stands within another."""
    brackets = "".join(sign for sign in text if sign in "()")
    return not brackets.replace("()", "")
