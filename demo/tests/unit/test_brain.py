"""What the demo answers in a turn."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from onechat_demo.answers import Call
from onechat_demo.model import DemoModel
from onechat_demo.talk import SIGNATURE

Turn = Callable[..., dict[str, Any]]
Ran = Callable[..., list[dict[str, Any]]]
answer = DemoModel().answer


def arguments(call: Call) -> dict[str, Any]:
    """The arguments that are not null."""
    return {key: value for key, value in json.loads(call.arguments).items() if value is not None}


@pytest.mark.parametrize(
    ("text", "tool", "wanted"),
    [
        ("run ls -la", "shell", {"command": "ls -la"}),
        ("Please run `ls and pwd`", "shell", {"command": "ls and pwd"}),
        ("$ echo hi", "shell", {"command": "echo hi"}),
        ("zoom 0 8", "zoom", {"id": 0, "n": 8}),
        ("zoom 40+8", "zoom", {"id": 40, "n": 8}),
        ("zoom House", "zoom", {"name": "House"}),
        ("date 5", "date", {"id": 5}),
        ("could you read notes/a.txt?", "read", {"path": "notes/a.txt"}),
        ("write notes.txt: two\nlines", "write", {"path": "notes.txt", "text": "two\nlines"}),
        (
            "edit a.txt: old words -> new words",
            "edit",
            {"path": "a.txt", "old": "old words", "new": "new words"},
        ),
        ('call date {"id": 3}', "date", {"id": 3}),
    ],
)
def test_plain_words_run_a_tool(turn: Turn, text: str, tool: str, wanted: dict[str, Any]) -> None:
    reply = answer(turn(text))

    assert [call.name for call in reply.calls] == [tool]
    assert arguments(reply.calls[0]) == wanted


def test_a_call_names_every_property_of_its_schema(turn: Turn) -> None:
    """Strict tools have all properties required, so what is not meant is null."""
    reply = answer(turn("zoom 0 8"))

    assert json.loads(reply.calls[0].arguments) == {"id": 0, "n": 8, "name": None, "page": None}


def test_several_asks_are_called_side_by_side(turn: Turn) -> None:
    reply = answer(turn("run ls and run pwd\nthen date 2"))

    assert [(call.name, arguments(call)) for call in reply.calls] == [
        ("shell", {"command": "ls"}),
        ("shell", {"command": "pwd"}),
        ("date", {"id": 2}),
    ]


def test_without_parallel_calls_they_come_one_after_the_other(turn: Turn, ran: Ran) -> None:
    first = answer(turn("run ls and run pwd", parallel_tool_calls=False))
    done = ran("shell", first.calls[0].arguments, "a.txt")
    second = answer(turn("run ls and run pwd", *done, parallel_tool_calls=False))

    assert [arguments(call) for call in first.calls] == [{"command": "ls"}]
    assert [arguments(call) for call in second.calls] == [{"command": "pwd"}]


def test_the_reply_says_what_the_tools_said(turn: Turn, ran: Ran) -> None:
    done = ran("shell", '{"command": "ls"}', "a.txt\nb.txt")

    reply = answer(turn("run ls", *done))

    assert reply.calls == ()
    assert reply.text == f"{SIGNATURE}shell says: a.txt\nb.txt"


def test_long_output_is_clipped_in_the_reply(turn: Turn, ran: Ran) -> None:
    done = ran("shell", '{"command": "ls"}', "x" * 30_000)

    reply = answer(turn("run ls", *done))

    assert len(reply.text) < 2_000
    assert "characters left out" in reply.text


def test_what_the_user_adds_in_the_middle_is_done_too(turn: Turn, ran: Ran) -> None:
    """Messages come in between tool calls; each is answered in the same turn."""
    done = ran("shell", '{"command": "ls"}', "a.txt")

    middle = answer(turn("run ls", *done, "and run pwd"))
    also = ran("shell", middle.calls[0].arguments, "/home", "call_2")
    end = answer(turn("run ls", *done, "and run pwd", *also))

    assert [arguments(call) for call in middle.calls] == [{"command": "pwd"}]
    assert end.text == f"{SIGNATURE}shell says: a.txt\nshell says: /home"


def test_talk_beside_an_ask_is_answered_in_the_end(turn: Turn, ran: Ran) -> None:
    done = ran("shell", '{"command": "ls"}', "a.txt")

    reply = answer(turn("my cat is called Ida", "run ls", *done))

    assert "shell says: a.txt" in reply.text
    assert "my cat is called Ida" in reply.text


def test_the_same_ask_twice_runs_twice(turn: Turn, ran: Ran) -> None:
    done = ran("shell", '{"command": "ls"}', "a.txt")

    assert len(answer(turn("run ls", *done, "run ls")).calls) == 1


def test_only_tools_of_the_request_are_called(turn: Turn, tools: list[dict[str, Any]]) -> None:
    without_shell = [tool for tool in tools if tool["name"] != "shell"]

    reply = answer(turn("run ls", tools=without_shell))

    assert reply.calls == ()
    assert reply.text == f"{SIGNATURE}I have no tool shell here."


def test_tool_choice_none_calls_nothing(turn: Turn) -> None:
    assert answer(turn("run ls", tool_choice="none")).calls == ()


def test_a_tool_with_other_arguments_is_not_called_for_ever(turn: Turn, ran: Ran) -> None:
    """A call that lacks what was asked must still count as made, or the turn would never end."""
    odd = {
        "type": "function",
        "name": "date",
        "strict": True,
        "parameters": {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
    }
    first = answer(turn("date 5", tools=[odd]))

    second = answer(turn("date 5", *ran("date", first.calls[0].arguments, "today"), tools=[odd]))

    assert second.calls == ()


@pytest.mark.parametrize(
    "text", [" \n" * 30_000, "run" + " " * 30_000, "edit a:" + " \n" * 30_000, "zoom 1" + " " * 30_000]
)
def test_a_page_of_blanks_does_not_stall_the_patterns(turn: Turn, text: str) -> None:
    """A pattern that can split the same blanks in many ways takes hours; the time limit would end it."""
    assert answer(turn(text)).text.startswith(SIGNATURE)


def test_a_question_zooms_the_best_line_until_it_is_whole(turn: Turn, ran: Ran) -> None:
    question = "what did I say about my heron?"
    first = answer(turn(question))
    half = ran(
        "zoom", first.calls[0].arguments, "0+2|user: my heron is called Gustav\n2+2|user: the boat leaks"
    )
    second = answer(turn(question, *half))
    quarter = ran(
        "zoom", second.calls[0].arguments, "0+1|user: my heron is called Gustav\n1+1|reply: noted", "c2"
    )
    third = answer(turn(question, *half, *quarter))
    whole = ran("zoom", third.calls[0].arguments, "user: my heron is called Gustav", "c3")

    last = answer(turn(question, *half, *quarter, *whole))

    assert [arguments(one.calls[0]) for one in (first, second, third)] == [
        {"id": 0, "n": 4},
        {"id": 0, "n": 2},
        {"id": 0, "n": 1},
    ]
    assert last.text == f"{SIGNATURE}I looked it up at message 0: user: my heron is called Gustav"


def test_a_question_prefers_the_users_own_words(turn: Turn) -> None:
    reply = answer(turn("what did I say about the rent?"))

    assert arguments(reply.calls[0]) == {"id": 4, "n": 1}


def test_a_question_without_a_trace_says_so(turn: Turn) -> None:
    reply = answer(turn("what did I say about zebras?"))

    assert reply.calls == ()
    assert reply.text == f"{SIGNATURE}No line of the chat that I see has: zebras."


def test_the_same_request_gets_the_same_answer(turn: Turn) -> None:
    assert answer(turn("run ls and hello")) == answer(turn("run ls and hello"))


def test_an_answer_over_the_token_limit_is_cut_and_says_so(turn: Turn) -> None:
    reply = answer(turn("hello", max_output_tokens=16))

    assert len(reply.text.encode()) <= 64
    assert reply.cut == "max_output_tokens"
