"""The forms in which one phone number is carried and written, in digits. Pure.

A number is given as WhatsApp gives it: the country's calling code and what follows, no "+". How people space
it, and where it stands in a text: own_number.py.
"""

from functools import cache
from typing import Final

# The calling codes of two digits; 1 and 7 have one, all others three. Source: ITU-T E.164, assigned codes.
_TWO_DIGITS: Final = {
    "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46", "47", "48",
    "49", "51", "52", "53", "54", "55", "56", "57", "58", "60", "61", "62", "63", "64", "65", "66", "81",
    "82", "84", "86", "90", "91", "92", "93", "94", "95", "98",
}  # fmt: skip


def calling_code(number: str) -> str:
    """The country's calling code, with which `number` begins."""
    if number[:1] in ("1", "7"):
        return number[:1]
    return number[:2] if number[:2] in _TWO_DIGITS else number[:3]


@cache
def international_forms(number: str) -> tuple[str, ...]:
    """`number`, and the other forms that the same line goes by with its calling code.

    Three countries have mobile numbers with a digit more or less: WhatsApp keeps the form of the day of the
    account, while people write that of today.
    """
    code = calling_code(number)
    rest = number[len(code) :]
    other = ""
    if code == "52":  # Mexico: 1 before ten digits until 2019, none since
        other = rest[1:] if len(rest) == 11 and rest[0] == "1" else f"1{rest}" if len(rest) == 10 else ""
    elif code == "54":  # Argentina: 9 before ten digits from abroad, none at home
        other = rest[1:] if len(rest) == 11 and rest[0] == "9" else f"9{rest}" if len(rest) == 10 else ""
    elif code == "55":  # Brazil: 9 behind the area's two digits since 2016
        if len(rest) == 11 and rest[2] == "9":
            other = rest[:2] + rest[3:]
        elif len(rest) == 10:
            other = f"{rest[:2]}9{rest[2:]}"
    return (number, f"{code}{other}") if other else (number,)


@cache
def national_forms(number: str) -> tuple[str, ...]:
    """What remains of each form without the calling code, which is dialled at home; some put a 0 before."""
    code = calling_code(number)
    found = [form[len(code) :] for form in international_forms(number)]
    if code == "54":  # at home 15 stands behind the area's two to four digits
        ten = next((form for form in found if len(form) == 10), "")
        found += [f"{ten[:area]}15{ten[area:]}" for area in (2, 3, 4) if ten]
    return tuple(form for form in dict.fromkeys(found) if form)
