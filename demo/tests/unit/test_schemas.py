"""Which tool schemas are strict."""

from typing import Any

import pytest
from onechat_demo.refusals import RequestRefused
from onechat_demo.schemas import check_tools

STRICT = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "n": {"type": ["integer", "null"]}},
    "required": ["path", "n"],
    "additionalProperties": False,
}


def tool(parameters: Any = STRICT, **changes: Any) -> dict[str, Any]:
    return {"type": "function", "name": "read", "strict": True, "parameters": parameters, **changes}


def without(schema: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != key}


def test_a_strict_tool_is_taken() -> None:
    nested = {
        **STRICT,
        "properties": {
            "tasks": {"type": "array", "items": {"type": "string"}},
            "where": {"anyOf": [{**STRICT}, {"type": "null"}]},
            "effort": {"type": ["string", "null"], "enum": ["low", "high", None]},
        },
        "required": ["tasks", "where", "effort"],
    }

    assert check_tools([tool(), tool(nested, name="spawn")], strict=True) == {"read", "spawn"}


@pytest.mark.parametrize(
    "schema",
    [
        without(STRICT, "additionalProperties"),
        {**STRICT, "additionalProperties": True},
        without(STRICT, "required"),
        {**STRICT, "required": ["path"]},
        {**STRICT, "required": ["path", "n", "more"]},
        {**STRICT, "type": "array"},
        {**STRICT, "properties": {"path": {"type": "text"}, "n": {"type": "integer"}}},
        {**STRICT, "properties": {"path": {}, "n": {"type": "integer"}}},
        {**STRICT, "properties": {"path": {"type": "array"}, "n": {"type": "integer"}}},
        {**STRICT, "properties": {"path": {"type": "string", "default": "x"}, "n": {"type": "integer"}}},
        {**STRICT, "properties": {"path": without(STRICT, "required"), "n": {"type": "integer"}}},
        {**STRICT, "oneOf": []},
    ],
)
def test_a_schema_that_is_not_strict_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(RequestRefused) as caught:
        check_tools([tool(schema)], strict=True)

    assert caught.value.code == "invalid_function_parameters"
    assert "'read'" in caught.value.message


@pytest.mark.parametrize(
    ("wrong", "param"),
    [
        (tool(strict=False), "tools[0].strict"),
        (without(tool(), "strict"), "tools[0].strict"),
        (without(tool(), "parameters"), "tools[0].parameters"),
        (tool(name="no spaces"), "tools[0].name"),
        (tool(name=""), "tools[0].name"),
        (tool(function={"name": "x"}), "tools[0].function"),
        (tool(type="web_search"), "tools[0].type"),
        ("read", "tools[0]"),
    ],
)
def test_a_tool_of_another_shape_is_refused(wrong: Any, param: str) -> None:
    with pytest.raises(RequestRefused) as caught:
        check_tools([wrong], strict=True)

    assert caught.value.param == param


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(RequestRefused, match="Duplicate tool name"):
        check_tools([tool(), tool()], strict=True)
