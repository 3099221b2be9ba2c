"""What the Bot API refuses in texts, captions and their entities, for the stand-in server in bot_api.py.

At least as strict as Telegram: where it would quietly drop an entity, this refuses it. Lengths are UTF-16
code units. parse_mode is not read, and so refused. Buttons and menus: bot_api_markup.py.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from tests.fakes.bot_api_fields import given, structured
from tests.fakes.bot_api_fields import text as text_field
from tests.fakes.bot_api_refusals import refused

TEXT_MAX = 4096
CAPTION_MAX = 1024
ENTITIES_MAX = 100

_STYLES = {"bold", "italic", "underline", "strikethrough", "spoiler"}
_QUOTES = {"blockquote", "expandable_blockquote"}
_CODE = {"code", "pre"}
_TYPES = _STYLES | _QUOTES | _CODE | {"text_link", "text_mention", "custom_emoji"}


def units(text: str) -> int:
    """Length as Telegram counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def checked_text(text: str) -> str:
    """`text` as it will be shown; refused when blank or too long."""
    if not text.strip():
        raise refused("message text is empty")
    if units(text) > TEXT_MAX:
        raise refused("message is too long")
    return text


def formatted_text(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The text and entities of a call, as a message shows them."""
    text = checked_text(text_field(fields, "text"))
    return {"text": text} | _entities_of(text, fields, "entities")


def formatted_caption(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The caption and its entities, as a message shows them; nothing where there is none."""
    caption = text_field(fields, "caption")
    if units(caption) > CAPTION_MAX:
        raise refused("message caption is too long")
    if not caption.strip():
        return {}
    return {"caption": caption} | _entities_of(caption, fields, "caption_entities")


def checked_entities(text: str, entities: Any) -> list[dict[str, Any]]:
    """The entities; refused unless Telegram would show each as it is."""
    if not isinstance(entities, list):
        raise refused("entities must be an Array of MessageEntity")
    if len(entities) > ENTITIES_MAX:
        raise refused("too many entities")
    for entity in entities:
        _check_alone(text, entity)
    for place, one in enumerate(entities):
        for other in entities[place + 1 :]:
            _check_together(one, other)
    return entities


def _entities_of(text: str, fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    if given(fields, "parse_mode"):
        raise refused("unsupported parse_mode")
    entities = checked_entities(text, structured(fields, name) or [])
    return {name: entities} if entities else {}


def _check_alone(text: str, entity: dict[str, Any]) -> None:
    encoded = text.encode("utf-16-le")
    if not isinstance(entity, dict) or not {"type", "offset", "length"} <= set(entity):
        raise refused("can't parse MessageEntity: type, offset and length are needed")
    offset, length = entity["offset"], entity["length"]
    if entity["type"] not in _TYPES:
        raise refused(f"unsupported entity type {entity['type']}")
    if length <= 0 or offset < 0 or offset + length > units(text):
        raise refused("ENTITY_BOUNDS_INVALID")
    try:
        covered = encoded[offset * 2 : (offset + length) * 2].decode("utf-16-le")
        encoded[: offset * 2].decode("utf-16-le")
    except UnicodeDecodeError:
        raise refused("ENTITY_BOUNDS_INVALID") from None
    if not covered.strip():
        raise refused("entity is blank")
    if entity["type"] == "text_link":
        parts = urlsplit(entity.get("url", ""))
        if parts.scheme not in {"http", "https", "tg"} or not parts.netloc:
            raise refused("ENTITY_TEXTURL_INVALID")


def _check_together(one: dict[str, Any], other: dict[str, Any]) -> None:
    (start, end), (from_, to) = _span(one), _span(other)
    if end <= from_ or to <= start:
        return
    if not (start <= from_ and to <= end) and not (from_ <= start and end <= to):
        raise refused("entities cross")
    kinds = {one["type"], other["type"]}
    if kinds & _CODE and not kinds & _QUOTES:
        raise refused("code can't hold or be part of another entity")
    if kinds <= _QUOTES:
        raise refused("quotes can't be nested")


def _span(entity: dict[str, Any]) -> tuple[int, int]:
    return entity["offset"], entity["offset"] + entity["length"]
