"""Which part of a long answer is on which page. Pure. Sizes are characters.

A page is named by the id that it starts at, so that no page depends on anything kept between two calls.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

PAGE_MAX = 32_000  #: characters; more than the longest message, so that each is whole on one page


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """How much of what was offered is on a page."""

    count: int  #: how many items; at least one where there is any
    next_id: int | None  #: the id that the next page starts at; None on the last


def page(items: Iterable[tuple[int, int]], most: int = PAGE_MAX) -> Page:
    """The page that starts with the first of `items`, each an id and its size; read only as far as needed."""
    taken, characters = 0, 0
    for item, length in items:
        characters += length
        if taken and characters > most:
            return Page(count=taken, next_id=item)
        taken += 1
    return Page(count=taken, next_id=None)
