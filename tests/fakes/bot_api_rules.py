"""What the Bot API refuses in a message, for the stand-in server in bot_api.py.

At least as strict as Telegram: where it would quietly drop an entity, this refuses it. Lengths are UTF-16
code units.
"""

import json
from typing import Any
from urllib.parse import urlsplit

TEXT_MAX = 4096
ENTITIES_MAX = 100

_STYLES = {"bold", "italic", "underline", "strikethrough", "spoiler"}
_QUOTES = {"blockquote", "expandable_blockquote"}
_CODE = {"code", "pre"}
_TYPES = _STYLES | _QUOTES | _CODE | {"text_link", "text_mention", "custom_emoji"}


class RefusedByBotApi(Exception):
    """An answer that is not ok."""

    def __init__(self, code: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def checked_text(text: str) -> str:
    """`text` as it will be shown; refused when blank or too long."""
    if not text.strip():
        raise RefusedByBotApi(400, "Bad Request: message text is empty")
    if units(text) > TEXT_MAX:
        raise RefusedByBotApi(400, "Bad Request: message is too long")
    return text


def checked_entities(text: str, raw: Any) -> list[dict[str, Any]]:
    """The entities in `raw`, JSON or a list; refused unless Telegram would show each as it is."""
    entities: list[dict[str, Any]] = json.loads(raw) if isinstance(raw, str) else (raw or [])
    if len(entities) > ENTITIES_MAX:
        raise RefusedByBotApi(400, "Bad Request: too many entities")
    for entity in entities:
        _check_alone(text, entity)
    for place, one in enumerate(entities):
        for other in entities[place + 1 :]:
            _check_together(one, other)
    return entities


def _check_alone(text: str, entity: dict[str, Any]) -> None:
    encoded = text.encode("utf-16-le")
    offset, length = entity["offset"], entity["length"]
    if entity["type"] not in _TYPES:
        raise RefusedByBotApi(400, f"Bad Request: unsupported entity type {entity['type']}")
    if length <= 0 or offset < 0 or offset + length > units(text):
        raise RefusedByBotApi(400, "Bad Request: ENTITY_BOUNDS_INVALID")
    try:
        covered = encoded[offset * 2 : (offset + length) * 2].decode("utf-16-le")
        encoded[: offset * 2].decode("utf-16-le")
    except UnicodeDecodeError:
        raise RefusedByBotApi(400, "Bad Request: ENTITY_BOUNDS_INVALID") from None
    if not covered.strip():
        raise RefusedByBotApi(400, "Bad Request: entity is blank")
    if entity["type"] == "text_link":
        parts = urlsplit(entity.get("url", ""))
        if parts.scheme not in {"http", "https", "tg"} or not parts.netloc:
            raise RefusedByBotApi(400, "Bad Request: ENTITY_TEXTURL_INVALID")


def _check_together(one: dict[str, Any], other: dict[str, Any]) -> None:
    (start, end), (from_, to) = _span(one), _span(other)
    if end <= from_ or to <= start:
        return
    if not (start <= from_ and to <= end) and not (from_ <= start and end <= to):
        raise RefusedByBotApi(400, "Bad Request: entities cross")
    kinds = {one["type"], other["type"]}
    if kinds & _CODE and not kinds & _QUOTES:
        raise RefusedByBotApi(400, "Bad Request: code can't hold or be part of another entity")
    if kinds <= _QUOTES:
        raise RefusedByBotApi(400, "Bad Request: quotes can't be nested")


def _span(entity: dict[str, Any]) -> tuple[int, int]:
    return entity["offset"], entity["offset"] + entity["length"]
