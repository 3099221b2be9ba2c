"""What is asked for when a schedule is set, and what makes its text and owner fit. Pure.

What is wrong with a time: local_time.py; with an expression: cron.py, spacing.py.
"""

import unicodedata
from dataclasses import dataclass
from typing import Final

from onechat_scheduler.domain.schedule import OWNER_MAX, TEXT_MAX, OwnerId

_UNSEEN: Final = {"Cc", "Cf", "Zs", "Zl", "Zp"}  # not Cn: signs younger than Python's tables are seen


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """A single local time, or an expression: at most one of them is set."""

    at: str | None = None
    cron: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSchedule:
    """A schedule before it has an id, in its owner's words."""

    owner: OwnerId
    text: str
    when: When
    backed: bool


def text_fault(text: str) -> str | None:
    """What is wrong with a schedule's text, in a sentence that says what to do; None when nothing is."""
    if len(text) > TEXT_MAX:
        return f"The text has {len(text):,} characters: say what is to be done in at most {TEXT_MAX:,}."
    if not any(map(_is_visible, text)):
        return "The text is empty: say what is to be done at that time."
    return None


def is_owner(owner: str) -> bool:
    """Whether `owner` can be an agent's id."""
    return 0 < len(owner) <= OWNER_MAX


def _is_visible(character: str) -> bool:
    return unicodedata.category(character) not in _UNSEEN
