"""Whether a tool call's arguments fit the tool's strict schema, and what to say where they do not.

A model may write anything as arguments: half an object, another type, a property that is not there. Strict
schemas have `properties`, all of them `required`, and no others; a type may be a list that ends in "null".
What the values mean is the tool's affair.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from onechat_agent.domain.text import clean, one_line

_NAMES: Final = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_SHOWN = 60  # characters of what a model wrote that an answer repeats


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """Arguments that fit, their strings valid Unicode without NUL."""

    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfitting:
    """Arguments that do not fit."""

    why: str  #: a clause for the model, such as "`path` is missing"


def parse_arguments(raw: str, parameters: Mapping[str, Any]) -> Fitting | Unfitting:
    """The JSON object that `raw` holds, checked against `parameters`, a strict schema of type object."""
    try:
        value = json.loads(raw, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        return Unfitting(why=f"its arguments are not valid JSON ({error.msg} at character {error.pos})")
    except (ValueError, RecursionError):
        return Unfitting(why="its arguments are not valid JSON (a number or a nesting beyond all measure)")
    if not isinstance(value, dict):
        return Unfitting(why=f"its arguments must be a JSON object, not {_named(value)}")
    return _fit_object(value, parameters)


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no JSON")


def _fit_object(given: dict[str, Any], parameters: Mapping[str, Any]) -> Fitting | Unfitting:
    wanted: Mapping[str, Any] = parameters["properties"]
    missing = [f"`{name}`" for name in wanted if name not in given]
    if missing:
        return Unfitting(why=f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    for name in given:
        if name not in wanted:
            takes = ", ".join(wanted) or "no arguments"
            return Unfitting(why=f"it has no `{one_line(clean(name), _SHOWN)}`; it takes {takes}")
    fitted: dict[str, Any] = {}
    for name, schema in wanted.items():
        value = _plain(given[name])
        why = _misfit(f"`{name}`", value, schema)
        if why is not None:
            return Unfitting(why=why)
        fitted[name] = value
    return Fitting(values=fitted)


def _plain(value: Any) -> Any:
    """`value` with clean strings, and with integers where it has whole numbers such as 40.0."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _misfit(where: str, value: Any, schema: Mapping[str, Any]) -> str | None:
    """Why `value` does not fit `schema`, as a clause about `where`; None if it fits."""
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(_is_of(value, kind) for kind in types):
        wanted = " or ".join(_NAMES[kind] for kind in types)
        return f"{where} must be {wanted}, not {_named(value)}"
    if "enum" in schema and value not in schema["enum"]:
        allowed = ", ".join("null" if choice is None else str(choice) for choice in schema["enum"])
        return f"{where} must be one of {allowed}"
    if isinstance(value, list):
        for index, item in enumerate(value):
            why = _misfit(f"{where}[{index}]", item, schema["items"])
            if why is not None:
                return why
    return None


def _is_of(value: Any, kind: str) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case "null":
            return value is None
    return False


def _named(value: Any) -> str:
    """What kind of JSON value this is, for a sentence."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _NAMES["number"]
    for kind in ("string", "boolean", "array", "null"):
        if _is_of(value, kind):
            return _NAMES[kind]
    return _NAMES["object"]
