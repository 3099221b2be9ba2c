"""What a log line may hold."""

import json
import logging

import apsw
import pytest
import structlog
from onechat_runtime import logs

SECRET = "what the user wrote"


@pytest.fixture(autouse=True)
def logging_as_it_was():
    root = logging.getLogger()
    before = (root.handlers[:], root.level)
    yield
    root.handlers[:], root.level = before
    structlog.reset_defaults()


def _fail():
    try:
        raise KeyError(SECRET)
    except KeyError:
        raise ValueError(SECRET)  # noqa: B904 - the cause is what is tested


def _raised():
    try:
        _fail()
    except ValueError as error:
        return error
    raise AssertionError


def test_a_stack_says_where_and_what_type_but_not_the_text():
    """An error's text often quotes what it failed on."""
    stack = logs.stack_of(_raised())

    assert "builtins.ValueError" in stack
    assert "builtins.KeyError" in stack
    assert "_fail" in stack
    assert SECRET not in stack


def test_the_stores_own_words_are_kept():
    with pytest.raises(apsw.SQLError) as raised:
        apsw.Connection(":memory:").execute("SELECT 1 FROM cups")

    assert "no such table: cups" in logs.stack_of(raised.value)


def test_a_groups_errors_are_all_shown():
    stack = logs.stack_of(ExceptionGroup("two", [ValueError(SECRET), KeyError(SECRET)]))

    assert "ValueError" in stack
    assert "KeyError" in stack
    assert SECRET not in stack


def test_a_line_is_one_json_object_with_service_event_and_variables(capsys):
    logs.configure("memory", "info", json=True)

    logs.get("memory.view").info("view_built", agent="root", bytes=12)
    logs.get("memory.view").debug("not_shown")

    (line,) = capsys.readouterr().err.splitlines()
    said = json.loads(line)
    assert said.pop("timestamp").endswith("Z")
    assert said == {
        "service": "memory",
        "room": "memory.view",
        "event": "view_built",
        "level": "info",
        "agent": "root",
        "bytes": 12,
    }


def test_a_librarys_line_keeps_its_template_and_loses_its_values(capsys):
    logs.configure("memory", "info", json=True)

    logging.getLogger("some.library").warning("could not send %s", SECRET)
    logging.getLogger("some.library").info("chatter %s", SECRET)
    logging.getLogger("asyncio").error(f"Task exception was never retrieved\nfuture: {SECRET}")

    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["template"] for line in lines] == ["could not send %s", "Task exception was never retrieved"]
    assert SECRET not in str(lines)


def test_a_librarys_error_keeps_its_stack_without_the_text(capsys):
    logs.configure("memory", "info", json=True)

    error = _raised()
    logging.getLogger("some.library").error("failed", exc_info=error)

    said = capsys.readouterr().err
    assert "_fail" in said
    assert SECRET not in said


def test_a_person_gets_readable_lines(capsys):
    logs.configure("memory", "info", json=False)

    logs.get("memory").error("rpc_failed", stack=logs.stack_of(_raised()))

    said = capsys.readouterr().err
    assert "rpc_failed" in said
    assert not said.startswith("{")
