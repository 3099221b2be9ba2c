"""Answers of a given form: which forms a request may ask for, and the smallest answer that has one. Pure.

A form is `text.format` of the type json_schema. What is said in a form that the demo understands: judging.py.
"""

from typing import Final

from onechat_demo.refusals import JsonObject, RequestRefused, missing, only_known, text_at, wrong_type
from onechat_demo.schemas import TOOL_NAME, Holder, check_object_schema

PARAM: Final = "text.format"
_KEYS: Final = frozenset({"type", "name", "schema", "strict", "description"})
_SMALLEST: Final = {"string": "", "number": 0, "integer": 0, "boolean": False, "array": []}


def form_of(body: JsonObject) -> JsonObject | None:
    """The form that the answer must have; None when it is free."""
    text = body.get("text")
    form = text.get("format") if isinstance(text, dict) else None
    return form if isinstance(form, dict) and form.get("type") == "json_schema" else None


def check_form(form: JsonObject) -> None:
    """Refuse a form without name or schema, and one that is said to be strict but is not."""
    only_known(form, _KEYS, param=PARAM)
    name = text_at(form, "name", param=PARAM, empty=False)
    if not TOOL_NAME.fullmatch(name):
        raise RequestRefused(
            f"Invalid '{PARAM}.name': string does not match pattern '^[a-zA-Z0-9_-]{{1,64}}$'.",
            param=f"{PARAM}.name",
            code="invalid_value",
        )
    if "schema" not in form:
        raise missing(f"{PARAM}.schema")
    schema = form["schema"]
    if not isinstance(schema, dict):
        raise wrong_type(f"{PARAM}.schema", wanted="an object", value=schema)
    if form.get("strict") is True:
        title = f"response_format '{name}'"
        check_object_schema(schema, Holder(title=title, param=f"{PARAM}.schema", code="invalid_json_schema"))


def smallest(schema: JsonObject) -> object:
    """The plainest value that `schema` allows: what may be null is, the first of what may be chosen is.

    References are not followed, and bounds of numbers and lists are not looked at.
    """
    if "const" in schema:
        return schema["const"]
    chosen = schema.get("enum")
    if isinstance(chosen, list) and chosen:
        return chosen[0]
    either = schema.get("anyOf")
    if isinstance(either, list) and either:
        return smallest(either[-1])
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    if "null" in kinds:
        return None
    if "object" in kinds:
        inside = schema.get("properties")
        return {name: smallest(one) for name, one in inside.items()} if isinstance(inside, dict) else {}
    return next((_SMALLEST[one] for one in kinds if one in _SMALLEST), None)
