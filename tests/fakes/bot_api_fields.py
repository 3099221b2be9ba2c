"""What a call of the Bot API carries, read as its documentation types it: a form's texts or JSON's own
values.

An upload stands in the field itself or is named there as attach://NAME.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.fakes.bot_api_refusals import refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that came with a call."""

    name: str
    content_type: str
    data: bytes


def given(fields: Mapping[str, Any], name: str) -> bool:
    """Whether the call says anything for `name`; an empty text says nothing."""
    return fields.get(name) not in (None, "")


def integer(fields: Mapping[str, Any], name: str, default: int | None = None) -> int:
    """An Integer; `default` where it is absent, refused without one."""
    if not given(fields, name):
        if default is None:
            raise refused(f"{name} is empty")
        return default
    value = fields[name]
    try:
        if isinstance(value, bool):
            raise TypeError
        return int(value)
    except (TypeError, ValueError):
        raise refused(f"{name} must be an Integer") from None


def text(fields: Mapping[str, Any], name: str) -> str:
    """A String; "" where it is absent."""
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise refused(f"{name} must be a String")
    return value


def flag(fields: Mapping[str, Any], name: str) -> bool:
    """A Boolean; false where it is absent."""
    return str(fields.get(name, "")).lower() in {"true", "1", "yes"}


def structured(fields: Mapping[str, Any], name: str) -> Any:
    """An object or array, also as JSON in a text; None where it is absent."""
    if not given(fields, name):
        return None
    value = fields[name]
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        raise refused(f"can't parse {name} JSON object") from None


def file_or_id(fields: Mapping[str, Any], name: str) -> Upload | str:
    """An InputFile: what was uploaded, or the text that names a file that Telegram has."""
    value = fields.get(name)
    if isinstance(value, str) and value.startswith("attach://"):
        value = fields.get(value.removeprefix("attach://"))
    if isinstance(value, Upload) or (isinstance(value, str) and value):
        return value
    raise refused(f"there is no {name} in the request")
