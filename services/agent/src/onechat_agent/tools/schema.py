"""How a tool states its arguments to the model: a strict function schema of the Responses API.

Strict means that every property is required and no other is taken; what may be left out is nullable.
"""

from collections.abc import Mapping
from typing import Any


def function_schema(name: str, description: str, /, **properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a tool; `properties` in the order in which a model shall write them."""
    return {
        "type": "function",
        "name": name,
        "description": description,
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": dict(properties),
            "required": list(properties),
            "additionalProperties": False,
        },
    }


def text(description: str) -> dict[str, Any]:
    """A string."""
    return {"type": "string", "description": description}


def integer(description: str) -> dict[str, Any]:
    """An integer."""
    return {"type": "integer", "description": description}


def choice(description: str, *values: str) -> dict[str, Any]:
    """One of `values`."""
    return {"type": "string", "enum": list(values), "description": description}


def texts(description: str) -> dict[str, Any]:
    """A list of strings."""
    return {"type": "array", "items": {"type": "string"}, "description": description}


def optional(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`schema`, or null."""
    nullable = {**schema, "type": [schema["type"], "null"]}
    return {**nullable, "enum": [*schema["enum"], None]} if "enum" in schema else nullable
