"""What Telegram finds by itself in the text that a person sends: mentions, commands, addresses and hashtags.

Offsets and lengths are UTF-16 code units. Nothing is found in what is formatted as code.
"""

import re
from collections.abc import Iterable
from typing import Any

from tests.fakes.bot_api_rules import units

_KINDS = (
    ("bot_command", re.compile(r"(?<![\w/<>])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?![\w/<>@])")),
    ("url", re.compile(r"https?://[^\s<>\"]+[^\s<>\".,;:!?)\]]")),
    ("mention", re.compile(r"(?<![\w/@.])@[A-Za-z0-9_]{3,32}(?!\w)")),
    ("hashtag", re.compile(r"(?<![\w#])#\w*[^\W\d]\w*")),
)
_CODE = {"code", "pre"}


def with_found(text: str, given: Iterable[dict[str, Any]] = ()) -> list[dict[str, Any]]:
    """`given` and what is found in `text`, as a message lists them: by offset, the longer first."""
    entities = list(given)
    for kind, pattern in _KINDS:
        for match in pattern.finditer(text):
            found = {
                "type": kind,
                "offset": units(text[: match.start()]),
                "length": units(match.group()),
            }
            if not any(_closes_out(entity, found) for entity in entities):
                entities.append(found)
    return sorted(entities, key=lambda entity: (entity["offset"], -entity["length"]))


def covered(text: str, entity: dict[str, Any]) -> str:
    """The part of `text` that `entity` is about."""
    encoded = text.encode("utf-16-le")
    start = entity["offset"] * 2
    return encoded[start : start + entity["length"] * 2].decode("utf-16-le")


def _closes_out(entity: dict[str, Any], found: dict[str, Any]) -> bool:
    """Whether `entity` stands where `found` would, and is of a kind that bears no other of these."""
    kinds = _CODE | {"text_link", "text_mention"} | {kind for kind, _ in _KINDS}
    apart = (
        entity["offset"] + entity["length"] <= found["offset"]
        or found["offset"] + found["length"] <= entity["offset"]
    )
    return entity["type"] in kinds and not apart
