"""Whether a tool of a request is a strict function tool, as structured outputs want it.

Strict means: `strict` is true, every object closes with `additionalProperties: false` and names each of its
properties in `required`; what is optional is nullable instead. Other tools are not served here.
"""

import re
from collections.abc import Sequence

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
    if parameters.get("type") != "object":
        raise _schema_refused(name, (), "schema must be of type 'object'", param)
    _check_schema(parameters, name, (), param, depth=0)


def _check_schema(schema: object, name: str, path: Sequence[str], param: str, *, depth: int) -> None:
    """Refuse `schema` (at `path` within the tool's parameters) where strict mode does not take it."""
    if not isinstance(schema, dict):
        raise _schema_refused(name, path, "schema must be an object", param)
    if depth > NESTING_MAX:
        raise _schema_refused(name, path, f"schema is nested deeper than {NESTING_MAX} levels", param)
    for key in schema:
        if key not in SCHEMA_KEYS:
            raise _schema_refused(name, path, f"'{key}' is not permitted", param)
    kinds = _kinds(schema, name, path, param)
    if "object" in kinds:
        _check_object(schema, name, path, param)
    if "array" in kinds and "items" not in schema:
        raise _schema_refused(name, path, "array schema missing items", param)
    for inner, where in _inner(schema):
        _check_schema(inner, name, (*path, *where), param, depth=depth + 1)


def _kinds(schema: JsonObject, name: str, path: Sequence[str], param: str) -> frozenset[str]:
    kind = schema.get("type")
    if kind is None:
        if not any(key in schema for key in ("anyOf", "$ref", "enum", "const")):
            raise _schema_refused(name, path, "schema must have a 'type' key", param)
        return frozenset()
    kinds = kind if isinstance(kind, list) else [kind]
    for one in kinds:
        if not isinstance(one, str) or one not in SCHEMA_TYPES:
            raise _schema_refused(name, path, f"'{one}' is not a valid type", param)
    if not kinds:
        raise _schema_refused(name, path, "'type' must not be empty", param)
    return frozenset(kinds)


def _check_object(schema: JsonObject, name: str, path: Sequence[str], param: str) -> None:
    if schema.get("additionalProperties") is not False:
        raise _schema_refused(
            name, path, "'additionalProperties' is required to be supplied and to be false", param
        )
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        raise _schema_refused(name, path, "'properties' must be an object", param)
    required = schema.get("required", [])
    if not isinstance(required, list):
        raise _schema_refused(name, path, "'required' must be an array", param)
    for key in properties:
        if key not in required:
            raise _schema_refused(
                name,
                path,
                "'required' is required to be supplied and to be an array including every key in properties. "
                f"Missing '{key}'",
                param,
            )
    for key in required:
        if key not in properties:
            raise _schema_refused(name, path, f"extra required key '{key}' supplied", param)


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


def _schema_refused(name: str, path: Sequence[str], what: str, param: str) -> RequestRefused:
    context = "(" + ", ".join(f"'{part}'" for part in path) + ")"
    return RequestRefused(
        f"Invalid schema for function '{name}': In context={context}, {what}.",
        param=f"{param}.parameters",
        code="invalid_function_parameters",
    )
