"""What a model may write as arguments, and what it is told."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from onechat_agent.domain.arguments import Fitting, Unfitting, parse_arguments
from onechat_agent.tools.schema import function_schema, integer, optional, text

FILES = function_schema("read", "", path=text(""))["parameters"]
ZOOM = function_schema("zoom", "", id=integer(""), name=optional(text("")))["parameters"]
SPAWN = function_schema(
    "spawn",
    "",
    tasks={"type": "array", "items": text("")},
    effort={"type": ["string", "null"], "enum": ["low", None]},
)["parameters"]


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ('{"path": "a', "not valid JSON"),
        ("", "not valid JSON"),
        ("null", "must be a JSON object, not null"),
        ("[1]", "must be a JSON object, not a list"),
        ("{}", "`path` is missing"),
        ('{"path": 5}', "`path` must be a string, not a number"),
        ('{"path": null}', "`path` must be a string, not null"),
        ('{"path": "a", "mode": "r"}', "it has no `mode`; it takes path"),
        ('{"path": NaN}', "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ('{"path": ' + "9" * 5000 + "}", "not valid JSON"),
    ],
)
def test_arguments_that_do_not_fit_are_named_in_a_clause(raw, why):
    outcome = parse_arguments(raw, FILES)

    assert isinstance(outcome, Unfitting)
    assert why in outcome.why
    assert "\n" not in outcome.why


@pytest.mark.parametrize(
    "raw", ['{"id": true, "name": null}', '{"id": "4", "name": null}', '{"id": 4.5, "name": null}']
)
def test_what_only_looks_like_an_integer_is_none(raw):
    outcome = parse_arguments(raw, ZOOM)

    assert isinstance(outcome, Unfitting)
    assert "`id` must be an integer" in outcome.why


def test_a_nullable_property_must_be_there_and_may_be_null():
    """Strict schemas have no optional properties: leaving one out is a misfit."""
    assert parse_arguments('{"id": 4, "name": null}', ZOOM) == Fitting(values={"id": 4, "name": None})
    assert parse_arguments('{"id": 4}', ZOOM) == Unfitting(why="`name` is missing")


def test_a_whole_number_with_a_point_is_an_integer():
    """JSON Schema counts 40.0 as an integer, and some models write it."""
    outcome = parse_arguments('{"id": 40.0, "name": null}', ZOOM)

    assert outcome == Fitting(values={"id": 40, "name": None})


def test_items_of_a_list_and_choices_are_checked():
    assert parse_arguments('{"tasks": ["a"], "effort": null}', SPAWN) == Fitting(
        values={"tasks": ["a"], "effort": None}
    )
    assert parse_arguments('{"tasks": ["a", 1], "effort": null}', SPAWN) == Unfitting(
        why="`tasks`[1] must be a string, not a number"
    )
    assert parse_arguments('{"tasks": [], "effort": "huge"}', SPAWN) == Unfitting(
        why="`effort` must be one of low, null"
    )


def test_strings_are_made_valid_at_the_door():
    """A lone surrogate or a NUL would fail later, in a file name or in the log."""
    outcome = parse_arguments(r'{"path": "a\ud83c\udf78 b\ud83c c\u0000"}', FILES)

    assert outcome == Fitting(values={"path": "a🍸 b\ufffd c\ufffd"})


@given(st.text())
def test_no_text_raises(raw):
    parse_arguments(raw, FILES)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["path", "x"]), inner),
    )
)
def test_no_json_raises(value):
    outcome = parse_arguments(json.dumps(value), FILES)

    fits = isinstance(value, dict) and value.keys() == {"path"} and isinstance(value["path"], str)
    assert isinstance(outcome, Fitting) == fits
