"""Answers of a form that the request gives."""

import json
from typing import Any

import pytest
from onechat_demo.forms import smallest
from onechat_demo.lacks import Lack
from onechat_demo.model import DemoModel
from onechat_demo.refusals import RequestRefused
from onechat_demo.rules import Rules

SCHEMA = {
    "type": "object",
    "properties": {name: {"type": "boolean"} for name in ("mentions", "command", "private")},
    "required": ["mentions", "command", "private"],
    "additionalProperties": False,
}
QUESTION = json.dumps({"names": ["robo"], "before": [], "message": "robo, when?"})


def request(question: str = QUESTION, **changes: Any) -> dict[str, Any]:
    form = {"type": "json_schema", "name": "judgement", "schema": SCHEMA, "strict": True, **changes}
    return {"model": "demo", "input": question, "text": {"format": form}}


def test_a_judgement_is_given_in_its_form() -> None:
    Rules().check(request())

    assert json.loads(DemoModel().answer(request()).text) == {
        "mentions": True,
        "command": False,
        "private": False,
    }


def test_another_form_gets_the_plainest_answer_that_has_it() -> None:
    schema = {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "pages": {"type": ["integer", "null"]},
            "kind": {"type": "string", "enum": ["book", "film"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "by": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "form": {"const": 2},
            "size": {"type": "number"},
            "inner": {"type": "object", "properties": {"yes": {"type": "boolean"}}},
        },
    }

    assert json.loads(DemoModel().answer(request("hello", schema=schema)).text) == {
        "title": "",
        "pages": None,
        "kind": "book",
        "tags": [],
        "by": None,
        "form": 2,
        "size": 0,
        "inner": {"yes": False},
    }
    assert smallest({}) is None


def test_without_a_form_the_answer_is_free() -> None:
    body = {"model": "demo", "input": "hello", "text": {"format": {"type": "text"}}}

    assert DemoModel().answer(body).text.startswith("Demo model: Hello.")


def test_what_is_to_be_called_first_is_called(turn: Any) -> None:
    body = turn("run ls", text=request()["text"])

    assert [call.name for call in DemoModel().answer(body).calls] == ["shell"]


@pytest.mark.parametrize(
    ("changes", "param", "code"),
    [
        ({"name": ""}, "text.format.name", "empty_string"),
        ({"name": "a b"}, "text.format.name", "invalid_value"),
        ({"schema": []}, "text.format.schema", "invalid_type"),
        ({"schema": {**SCHEMA, "required": []}}, "text.format.schema", "invalid_json_schema"),
        ({"schema": {"type": "array", "items": SCHEMA}}, "text.format.schema", "invalid_json_schema"),
        ({"odd": 1}, "text.format.odd", "unknown_parameter"),
    ],
)
def test_a_form_that_cannot_be_is_refused(changes: dict[str, Any], param: str, code: str) -> None:
    with pytest.raises(RequestRefused) as refused:
        Rules().check(request(**changes))

    assert (refused.value.param, refused.value.code) == (param, code)


@pytest.mark.parametrize("left_out", ["name", "schema"])
def test_a_form_has_a_name_and_a_schema(left_out: str) -> None:
    body = request()
    del body["text"]["format"][left_out]

    with pytest.raises(RequestRefused) as refused:
        Rules().check(body)

    assert (refused.value.param, refused.value.code) == (
        f"text.format.{left_out}",
        "missing_required_parameter",
    )


def test_only_what_is_said_to_be_strict_is_held_to_it() -> None:
    Rules().check(request(strict=False, schema={**SCHEMA, "required": []}))


def test_a_server_that_does_not_know_strict_refuses_it_in_forms_too() -> None:
    rules = Rules(lacks=frozenset({Lack.STRICT}))
    without = request()
    del without["text"]["format"]["strict"]

    rules.check(without)
    with pytest.raises(RequestRefused) as refused:
        rules.check(request())

    assert refused.value.param == "text.format.strict"
