"""One field of a cron expression: what may stand in it, the numbers it names, and what to write instead.

Numbers only: `*`, lists, ranges, and steps on `*` or a range. How five of them make an expression: cron.py.
"""

import re
from dataclasses import dataclass
from typing import Final

_TERM: Final = re.compile(r"(?:(?P<all>\*)|(?P<first>\d+)(?:-(?P<last>\d+))?)(?:/(?P<step>\d+))?", re.ASCII)
_RANGE: Final = re.compile(r"(\d+)-(\d+)", re.ASCII)
_WORD: Final = re.compile(r"[A-Za-z]+")
_NTH: Final = re.compile(r"(\w+)#(\d+)", re.ASCII)
_SHOWN: Final = 40  #: characters of what was written that a refusal repeats


class CronRefused(ValueError):
    """The expression cannot be taken; the text is one sentence that says what to write instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """What one of the five fields counts."""

    name: str
    low: int
    high: int
    wraps: int  #: the highest number before they begin anew: 6 for days of the week, whose 7 is 0 again
    names: tuple[str, ...] = ()  #: of the numbers from `low` on; not taken, but understood


MINUTE: Final = Field(name="minute", low=0, high=59, wraps=59)
HOUR: Final = Field(name="hour", low=0, high=23, wraps=23)
DAY: Final = Field(name="day of month", low=1, high=31, wraps=31)
MONTH: Final = Field(
    name="month",
    low=1,
    high=12,
    wraps=12,
    names=(
        *("january", "february", "march", "april", "may", "june"),
        *("july", "august", "september", "october", "november", "december"),
    ),
)
WEEKDAY: Final = Field(
    name="day of week",
    low=0,
    high=7,
    wraps=6,
    names=("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"),
)


def shown(text: str) -> str:
    """`text` as a refusal repeats it: cut when it is long, and nothing in it ends the quotation."""
    text = text.replace("`", "'")
    return f"`{text if len(text) <= _SHOWN else text[: _SHOWN - 1] + '…'}`"


def numbers(text: str, field: Field) -> frozenset[int]:
    """The numbers that `text` names in `field`; a day of the week is 0 to 6 with 0 Sunday.

    Raises CronRefused.
    """
    found: set[int] = set()
    for term in text.split(","):
        if not (match := _TERM.fullmatch(term)):
            raise CronRefused(_what_to_write(text, field))
        found.update(_of_term(term, field, match))
    return frozenset(number % 7 for number in found) if field is WEEKDAY else frozenset(found)


def _of_term(term: str, field: Field, match: re.Match[str]) -> range:
    step = int(match["step"] or 1)
    if step == 0:
        raise CronRefused(
            f"A step of 0 in {shown(term)} goes nowhere: write a step of 1 or more, such as `*/5`."
        )
    if match["all"]:
        return range(field.low, field.high + 1, step)
    first, last = int(match["first"]), int(match["last"] or match["first"])
    for number in (first, last):
        if not field.low <= number <= field.high:
            raise CronRefused(
                f"{shown(str(number))} is no {field.name}: write a number from {field.low} to {field.high}."
            )
    if match["step"] and not match["last"]:
        raise CronRefused(
            f"A step needs `*` or a range: instead of {shown(term)} write `{first}-{field.wraps}/{step}`."
        )
    if last < first:
        raise CronRefused(
            f"{shown(term)} as {field.name} goes backwards: write `{_wrapped(first, last, field, step)}`."
        )
    return range(first, last + 1, step)


def _wrapped(first: int, last: int, field: Field, step: int = 1) -> str:
    """What was meant by a range over the end: `22-23,0-6` for the hours 22-6."""
    if step > 1:
        all_of_them = [*range(first, field.wraps + 1), *range(field.low, last + 1)]
        return ",".join(str(number) for number in all_of_them[::step])
    parts = ((first, field.wraps), (field.low, last))
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in parts if low <= high)


def _what_to_write(text: str, field: Field) -> str:
    """The sentence for a field that is not of numbers; it names what was probably meant, where it can."""
    written = f"{shown(text)} as {field.name}"
    if "?" in text:
        return f"`?` is not taken: write `*` as {field.name}."
    if nth := _NTH.fullmatch(text):
        day = _numbered(nth[1], field) or "1"
        return (
            f"{written} is not taken: write `{day}`, and let the schedule's text say that only number "
            f"{nth[2]} of the month counts."
        )
    if (numbered := _numbered(text, field)) and numbered != text:
        return f"Names are not taken: instead of {written} write `{numbered}`."
    if field in (DAY, WEEKDAY) and "L" in text.upper():
        bare = text.upper().replace("L", "")
        days = "28-31" if field is DAY else bare if _taken(bare, field) else "6"
        return (
            f"{written} is not taken: write `{days}`, and let the schedule's text say that only the last one "
            "of the month counts."
        )
    if (bare := text.upper().replace("W", "")) != text.upper() and field is DAY and _taken(bare, field):
        return f"{written} is not taken: write the day itself, `{bare}`."
    if "" in text.split(",") and _taken(bare := ",".join(filter(None, text.split(","))), field):
        return f"{written} has a comma too many: write `{bare}`."
    return (
        f"{written} is not taken: write `*`, numbers from {field.low} to {field.high}, a range such as "
        "`1-5`, a list such as `1,5`, or steps such as `*/2`."
    )


def _numbered(text: str, field: Field) -> str | None:
    """`text` with numbers instead of names, ranges over the end taken apart; None when that is not taken."""

    def number(word: re.Match[str]) -> str:
        name = word[0].lower()
        for index, known in enumerate(field.names):
            if len(name) >= 3 and known.startswith(name):
                return str(field.low + index)
        return word[0]

    terms = _WORD.sub(number, text).split(",")
    for index, term in enumerate(terms):
        if (ends := _RANGE.fullmatch(term)) and int(ends[1]) > int(ends[2]):
            terms[index] = _wrapped(int(ends[1]), int(ends[2]), field)
    return changed if _taken(changed := ",".join(terms), field) else None


def _taken(text: str, field: Field) -> bool:
    try:
        return all(
            (match := _TERM.fullmatch(term)) and _of_term(term, field, match) for term in text.split(",")
        )
    except CronRefused:
        return False
