"""Addresses behind words of a message: Telegram sends them beside the text, and the agent reads text alone.

Telegram counts UTF-16 units; a Link counts code points.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onechat_telegram.domain.utf16 import unit_offsets


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Words that stand for an address."""

    end: int  #: code points of the text up to and with the last of the words
    url: str


def links_of(text: str, entities: Sequence[Mapping[str, Any]]) -> tuple[Link, ...]:
    """The links among a text's `entities` whose addresses it does not show itself, in order."""
    offsets = unit_offsets(text)
    found = []
    for entity in entities:
        url = "".join(str(entity.get("url", "")).split())
        if entity["type"] == "text_link" and url and url not in text:
            end = bisect_left(offsets, int(entity["offset"]) + int(entity["length"]))
            found.append(Link(end=min(end, len(text)), url=url))
    return tuple(sorted(found, key=lambda link: link.end))


def with_addresses(text: str, links: Sequence[Link]) -> str:
    """`text` with the addresses of its `links` after their words."""
    for link in reversed(links):
        text = f"{text[: link.end]} ({link.url}){text[link.end :]}"
    return text
