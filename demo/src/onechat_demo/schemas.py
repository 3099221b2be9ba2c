"""Whether a schema of a request is strict, as structured outputs want it, and its tools function tools.

Strict means: `strict` is true, every object closes with `additionalProperties: false` and names each of its
properties in `required`; what is optional is nullable instead. Other tools are not served here. Schemas of
answers are held to the same: forms.py.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from onechat_demo.refusals import (
    JsonObject,
    RequestRefused,
    missing,
    only_known,
    text_at,
    wrong_type,
    wrong_value,
)

TOOL_KEYS = frozenset(
    {
        "type",
        "name",
        "description",
        "parameters",
        "strict",
        "allowed_callers",
        "async",
        "defer_loading",
        "output_schema",
    }
)
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
SCHEMA_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
SCHEMA_KEYS = frozenset(
    {
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "const",
        "anyOf",
        "description",
        "title",
        "$ref",
        "$defs",
        "pattern",
        "format",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
    }
)
NESTING_MAX = 10  # levels of objects; structured outputs, supported schemas


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """What a schema is of, as a refusal names it."""

    title: str  #: such as `function 'read'`
    param: str
    code: str


def check_tools(tools: object, *, strict: bool) -> frozenset[str]:
    """The names of the request's tools; refuses what is not a function tool (a strict one, if `strict`)."""
    if not isinstance(tools, list):
        raise wrong_type("tools", wanted="an array", value=tools)
    names: set[str] = set()
    for index, tool in enumerate(tools):
        name = _check_tool(tool, f"tools[{index}]", strict=strict)
        if name in names:
            raise RequestRefused(f"Duplicate tool name: '{name}'.", param=f"tools[{index}].name")
        names.add(name)
    return frozenset(names)


def _check_tool(tool: object, param: str, *, strict: bool) -> str:
    if not isinstance(tool, dict):
        raise wrong_type(param, wanted="an object", value=tool)
    kind = text_at(tool, "type", param=param)
    if kind != "function":
        raise wrong_value(f"{param}.type", value=kind, wanted="'function'")
    only_known(tool, TOOL_KEYS, param=param)
    name = text_at(tool, "name", param=param, empty=False)
    if not TOOL_NAME.fullmatch(name):
        raise RequestRefused(
            f"Invalid '{param}.name': string does not match pattern '^[a-zA-Z0-9_-]{{1,64}}$'.",
            param=f"{param}.name",
            code="invalid_value",
        )
    description = tool.get("description")
    if description is not None and not isinstance(description, str):
        raise wrong_type(f"{param}.description", wanted="a string", value=description)
    if "parameters" not in tool:
        raise missing(f"{param}.parameters")
    parameters = tool["parameters"]
    if not isinstance(parameters, dict):
        raise wrong_type(f"{param}.parameters", wanted="an object", value=parameters)
    if strict:
        _check_strict(tool, parameters, name, param)
    return name


def _check_strict(tool: JsonObject, parameters: JsonObject, name: str, param: str) -> None:
    if tool.get("strict") is not True:
        raise RequestRefused(f"Tool '{name}' must have 'strict' set to true.", param=f"{param}.strict")
    holder = Holder(
        title=f"function '{name}'", param=f"{param}.parameters", code="invalid_function_parameters"
    )
    check_object_schema(parameters, holder)


def check_object_schema(parameters: JsonObject, holder: Holder) -> None:
    """Refuse a whole schema that strict mode does not take, or that is not of an object."""
    if parameters.get("type") != "object":
        raise _schema_refused(holder, (), "schema must be of type 'object'")
    _check_schema(parameters, holder, (), depth=0)


def _check_schema(schema: object, holder: Holder, path: Sequence[str], *, depth: int) -> None:
    """Refuse `schema` (at `path` within the whole) where strict mode does not take it."""
    if not isinstance(schema, dict):
        raise _schema_refused(holder, path, "schema must be an object")
    if depth > NESTING_MAX:
        raise _schema_refused(holder, path, f"schema is nested deeper than {NESTING_MAX} levels")
    for key in schema:
        if key not in SCHEMA_KEYS:
            raise _schema_refused(holder, path, f"'{key}' is not permitted")
    kinds = _kinds(schema, holder, path)
    if "object" in kinds:
        _check_object(schema, holder, path)
    if "array" in kinds and "items" not in schema:
        raise _schema_refused(holder, path, "array schema missing items")
    for inner, where in _inner(schema):
        _check_schema(inner, holder, (*path, *where), depth=depth + 1)


def _kinds(schema: JsonObject, holder: Holder, path: Sequence[str]) -> frozenset[str]:
    kind = schema.get("type")
    if kind is None:
        if not any(key in schema for key in ("anyOf", "$ref", "enum", "const")):
            raise _schema_refused(holder, path, "schema must have a 'type' key")
        return frozenset()
    kinds = kind if isinstance(kind, list) else [kind]
    for one in kinds:
        if not isinstance(one, str) or one not in SCHEMA_TYPES:
            raise _schema_refused(holder, path, f"'{one}' is not a valid type")
    if not kinds:
        raise _schema_refused(holder, path, "'type' must not be empty")
    return frozenset(kinds)


def _check_object(schema: JsonObject, holder: Holder, path: Sequence[str]) -> None:
    if schema.get("additionalProperties") is not False:
        raise _schema_refused(
            holder, path, "'additionalProperties' is required to be supplied and to be false"
        )
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        raise _schema_refused(holder, path, "'properties' must be an object")
    required = schema.get("required", [])
    if not isinstance(required, list):
        raise _schema_refused(holder, path, "'required' must be an array")
    for key in properties:
        if key not in required:
            raise _schema_refused(
                holder,
                path,
                "'required' is required to be supplied and to be an array including every key in properties. "
                f"Missing '{key}'",
            )
    for key in required:
        if key not in properties:
            raise _schema_refused(holder, path, f"extra required key '{key}' supplied")


def _inner(schema: JsonObject) -> list[tuple[object, tuple[str, ...]]]:
    """The schemas within `schema`, each with the keys that lead to it."""
    found: list[tuple[object, tuple[str, ...]]] = []
    for holder in ("properties", "$defs"):
        inside = schema.get(holder)
        if isinstance(inside, dict):
            found += [(inner, (holder, key)) for key, inner in inside.items()]
    choices = schema.get("anyOf")
    if isinstance(choices, list):
        found += [(inner, ("anyOf", str(index))) for index, inner in enumerate(choices)]
    if "items" in schema:
        found.append((schema["items"], ("items",)))
    return found


def _schema_refused(holder: Holder, path: Sequence[str], what: str) -> RequestRefused:
    context = "(" + ", ".join(f"'{part}'" for part in path) + ")"
    return RequestRefused(
        f"Invalid schema for {holder.title}: In context={context}, {what}.",
        param=holder.param,
        code=holder.code,
    )
